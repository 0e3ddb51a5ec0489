package ref

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	d := "sha256:" + strings.Repeat("0a", 32)
	for text, want := range map[string]Ref{
		"quay.io/a/b@" + d:            {Host: "quay.io", Path: "a/b", Digest: d},
		"quay.io/a/b:v1@" + d:         {Host: "quay.io", Path: "a/b", Tag: "v1", Digest: d},
		"192.0.2.1:5000/img/i0:v1":    {Host: "192.0.2.1:5000", Path: "img/i0", Tag: "v1"},
		"[2001:db8::1]:5000/a":        {Host: "[2001:db8::1]:5000", Path: "a"},
		"localhost/bench/pod:1":       {Host: "localhost", Path: "bench/pod", Tag: "1"},
		"localhost:5000/x":            {Host: "localhost:5000", Path: "x"},
		"busybox":                     {Path: "busybox"},
		"library/busybox:1":           {Path: "library/busybox", Tag: "1"},
		"registry.example/a__b/c.d-e": {Host: "registry.example", Path: "a__b/c.d-e"},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if got.String() != text {
			t.Errorf("%s comes back as %s", text, got)
		}
	}
	for _, bad := range []string{
		"", "@", "a@sha256:00", "a@" + d + "@" + d, "/a", "a//b", "A/b", "a b", "quay.io/a:", "quay.io/a:-x", "-x.io/a", "a.io/../b",
		"a.io/b\n", "--privileged", "/var/lib/kubelet/config.json", "FOO=bar", strings.Repeat("a", 600), "a.io:99999999/b", "sha256:" + strings.Repeat("zz", 32),
	} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("%q was taken for %+v", bad, got)
		}
	}
	for text, floats := range map[string]bool{"a.io/b": true, "a.io/b:latest": true, "a.io/b:1": false, "a.io/b:latest@" + d: false} {
		if r, _ := Parse(text); r.Floats() != floats {
			t.Errorf("%s floats: %v", text, r.Floats())
		}
	}
}
