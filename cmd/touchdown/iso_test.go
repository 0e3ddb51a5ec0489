package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/media/iso"
	"touchdown/test/liveiso"
)

// hostileISO makes a live image all of whose embedded texts would steer a terminal.
func hostileISO(dir string) string {
	path := filepath.Join(dir, "hostile.iso")
	err := os.WriteFile(path, liveiso.Make(liveiso.Y2023, true), 0o600)
	if err == nil {
		file, image, failed := iso.Open(path, true)
		if err = failed; err == nil {
			var filling *iso.Filling
			config := `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/a\u001b[2J\u202e"}]}}`
			if filling, err = image.Fill(iso.Content{Ignition: []byte(config), Keyfiles: []iso.File{{Path: "a.nmconnection", Data: []byte("[connection]\n# a\x1b[2J\u009b2J\u202ec")}}}, true); err == nil {
				err = filling.WriteInPlace(file)
			}
			_ = file.Close()
		}
	}
	if err != nil {
		panic(err)
	}
	return path
}

// runISO runs a command, and returns how it ends and what it prints.
func runISO(t *testing.T, stdin string, line ...string) (code int, out, complaints string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	root := newRoot(hooks{})
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	code = execute(t.Context(), root, append([]string{"iso"}, line...))
	return code, stdout.String(), stderr.String()
}

// TestALiveImageIsFilledAndShown, by its commands: without secrets unless they are asked for.
func TestALiveImageIsFilledAndShown(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	const config = `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/a","mode":384,"contents":{"source":"data:,hidden"}}]},"passwd":{"users":[{"name":"core","passwordHash":"hidden"}]}}`
	for name, text := range map[string]string{
		"live.iso": string(liveiso.Make(liveiso.Y2023, true)), "live.ign": config, "bad.ign": `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"hidden"}]}}`,
		"eno1.nmconnection": "[connection]\nid=eno1\n[802-1x]\npassword=hidden\n",
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ends := func(want int, says string, line ...string) string {
		t.Helper()
		code, out, complaints := runISO(t, config, line...)
		if code != want || !strings.Contains(out+complaints, says) || strings.Contains(complaints, "hidden") {
			t.Errorf("%q ends with %d, not with %d and %q:\n%s%s", line, code, want, says, out, complaints)
		}
		return out
	}
	ends(exitUsage, "out", "embed", in("live.iso"), "--ignition", in("live.ign"))
	ends(exitUsage, "in-place", "embed", in("live.iso"), "--ignition", in("live.ign"), "--out", in("a.iso"), "--in-place")
	ends(exitUsage, "nothing to embed", "embed", in("live.iso"), "--out", in("a.iso"))
	ends(exitUsage, "--ignition", "embed", in("live.iso"), "--out", in("a.iso"), "--ignition", in("none"))
	ends(exitFailed, "LVE-GNTN", "embed", in("live.iso"), "--out", in("a.iso"), "--ignition", in("bad.ign"))
	ends(exitFailed, "LVE-ARGS", "embed", in("live.iso"), "--out", in("a.iso"), "--karg-delete", "none")
	if _, err := os.Stat(in("a.iso")); err == nil {
		t.Error("an image was written all the same")
	}
	ends(exitOK, "16384 bytes used, files: 2", "embed", in("live.iso"), "--out", in("a.iso"), "--ignition", in("live.ign"), "--network-keyfile", in("eno1.nmconnection"), "--karg-append", "a=https://u:hidden@h/", "--karg-append", "console=ttyS0,115200n8")
	ends(exitFailed, "LVE-THRE", "embed", in("live.iso"), "--out", in("a.iso"), "--ignition", "-")
	shown := ends(exitOK, "found by coreos/igninfo.json", "show", in("a.iso"))
	for _, want := range []string{"etc/coreos-firstboot-network/eno1.nmconnection", "file      /etc/a 0600 inline", "user      core", "ignition.platform.id=metal a=https://h/ console=ttyS0,115200n8"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}
	asJSON := ends(exitOK, "{", "show", in("a.iso"), "-o", "json")
	var s isoContent
	if err := json.Unmarshal([]byte(asJSON), &s); err != nil || s.Config.Version != "3.4.0" || len(s.Files) != 2 || !strings.HasSuffix(s.Kargs.Args, "n8") || s.Ignition.Length != liveiso.IgnitionSize {
		t.Errorf("%+v, %v", s, err)
	}
	if strings.Contains(shown+asJSON, "hidden") {
		t.Errorf("a secret is shown:\n%s%s", shown, asJSON)
	}
	if whole := ends(exitOK, "password=hidden", "show", in("a.iso"), "--with-secrets"); !strings.Contains(whole, config) || !strings.Contains(whole, "a=https://u:hidden@h/") {
		t.Errorf("the config is not shown whole:\n%s", whole)
	}
	ends(exitFailed, "LVE-FULL", "embed", in("a.iso"), "--in-place", "--ignition", "-")
	ends(exitOK, "files: 1", "embed", in("a.iso"), "--in-place", "--ignition", "-", "--force")
	image, err := os.ReadFile(in("a.iso"))
	if err != nil {
		t.Fatal(err)
	}
	half := bytes.Replace(image, []byte("\x1f\x8b\x08"), []byte("tou"), 1)
	if err := os.WriteFile(in("a.iso"), half, 0o600); err != nil {
		t.Fatal(err)
	}
	ends(exitFailed, "LVE-HALF", "show", in("a.iso"))
}

// TestALiveImageThatInstalls: one command fills it beside the other flags, and iso show tells what it will do, without the secret.
func TestALiveImageThatInstalls(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"live.iso": string(liveiso.Make(liveiso.Y2023, true)), "live.ign": `{"ignition":{"version":"3.1.0"},"passwd":{"users":[{"name":"core"}]}}`,
		"target.ign": `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/a","contents":{"source":"data:,hidden"}}]}}`,
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ends := func(want int, says string, line ...string) string {
		t.Helper()
		code, out, complaints := runISO(t, "", line...)
		if code != want || !strings.Contains(out+complaints, says) || strings.Contains(out+complaints, "hidden") {
			t.Errorf("%q ends with %d, not with %d and %q:\n%s%s", line, code, want, says, out, complaints)
		}
		return out
	}
	base := []string{"embed", in("live.iso"), "--out", in("a.iso")}
	with := func(more ...string) []string { return append(slices.Clone(base), more...) }
	ends(exitUsage, "install-disk", with("--install-ignition", in("target.ign"))...)
	ends(exitUsage, "install-ignition", with("--install-disk", "only")...)
	ends(exitUsage, "install-overwrite", with("--ignition", in("live.ign"), "--install-overwrite", "S1")...)
	ends(exitUsage, "install-least-gb", with("--ignition", in("live.ign"), "--install-least-gb", "1")...)
	ends(exitUsage, "install-program-hash", with("--install-ignition", in("target.ign"), "--install-disk", "only", "--install-program", "https://h/t")...)
	ends(exitUsage, "names no disk", with("--install-ignition", in("target.ign"), "--install-disk", "sda")...)
	ends(exitFailed, "LVE-GNTN", with("--install-ignition", in("live.iso"), "--install-disk", "only")...)
	ends(exitOK, "files: 1", with("--ignition", in("live.ign"), "--karg-append", "console=ttyS0,115200n8", "--install-ignition", in("target.ign"), "--install-disk", "only", "--install-overwrite", "S1", "--install-least-gb", "120")...)
	shown := ends(exitOK, "installs  the only disk that is built in, of at least 120 GB\n  OVERWRITES the disk with serial number S1, whatever is on it\n", "show", in("a.iso"))
	for _, want := range []string{"Ignition 3.1.0", "user      core", "file      /etc/touchdown/target.ign 0600 inline", "unit      touchdown-install.service, enabled: true", "console=ttyS0"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}
	var s isoContent
	if err := json.Unmarshal([]byte(ends(exitOK, "{", "show", in("a.iso"), "-o", "json")), &s); err != nil || s.Config.Install == nil || s.Config.Install.Overwrite != "S1" || len(s.Config.Install.Medium) != 16 {
		t.Errorf("%+v, %v", s.Config, err)
	}
	ends(exitOK, "installs  the disk serial:S2, of at least 100 GB\n", "show", func() string {
		ends(exitOK, "", "embed", in("live.iso"), "--in-place", "--install-ignition", in("target.ign"), "--install-disk", "serial:S2")
		return in("live.iso")
	}())
}
