package main

import (
	"encoding/json"
	"strings"
	"testing"

	"touchdown/backend/images"
)

func shown(t *testing.T, all bool, r *images.Wanted) string {
	t.Helper()
	var b strings.Builder
	imageTable{all: all}.print(&b, r)
	for line := range strings.SplitSeq(b.String(), "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
		if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Errorf("a terminal would obey %q", line)
		}
	}
	return b.String()
}

func TestImageTable(t *testing.T) {
	r := new(images.Wanted)
	if err := json.Unmarshal([]byte(`{"storeRead": true, "unread": [{"source": "deployments",
	"reason": "The cluster does not let Touchdown list deployments. Give Touchdown the node's own administrator kubeconfig."}], "images": [
  {"names": ["quay.io/x/spare:1"], "need": "spare", "present": true, "size": 5},
  {"names": ["quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:`+strings.Repeat("a", 64)+`"], "component": "cluster-network-operator",
   "need": "boot", "bootCritical": true, "present": true, "size": 1234000000, "needers": [
    {"who": "Deployment openshift-network-operator/network-operator", "need": "boot", "source": "pods"},
    {"who": "Deployment openshift-network-operator/network-operator", "need": "boot", "source": "deployments"},
    {"who": "unit x.service", "need": "boot"}]},
  {"names": ["quay.io/web:1"], "need": "run", "missing": ["quay.io/web:1"], "download": 12345678, "pullAlways": true,
   "needers": [{"who": "Deployment app/web", "need": "run"}],
   "findings": [{"kind": "pull-always", "status": "warn", "text": "Deployment app/web (c) asks the registry.", "fix": "Set imagePullPolicy: IfNotPresent."}]},
  {"names": ["\u001b[2Jevil\n`+strings.Repeat("x", 200)+`"], "need": "run", "needers": [{"who": "Pod \u001b]0;x\u0007/ü", "need": "run"}]}
]}`), r); err != nil {
		t.Fatal(err)
	}
	r.Count()
	got := shown(t, false, r)
	for _, want := range []string{
		"IMAGE                      NEEDED BY                         SIZE HERE BOOT NOTE\n",
		"web:1                      app/web                         +12 MB NO        1\n",
		"cluster-network-operator   network-operator/network.. +1   1.2 GB yes  yes\n",
		" 1  web:1: Deployment app/web (c) asks the registry. Try: Set imagePullPolicy:\n    IfNotPresent.\n",
		"3 images wanted, 1 of them boot-critical; 2 missing (0 boot-critical), 2 of\nunknown size.\n",
		"1 more that nothing runs: --all prints them.\n", "Not read: deployments: The cluster does not let Touchdown list deployments. Give\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("not there: %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "spare:1") || !strings.Contains(shown(t, true, r), "spare:1") {
		t.Error("--all makes no difference")
	}
	r.StoreRead = false
	r.Count()
	if got := shown(t, false, r); !strings.Contains(got, " ?    yes") || !strings.Contains(got, "which are here is not known") {
		t.Errorf("without CRI-O:\n%s", got)
	}
}

func TestAmount(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9_960: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB", 7_400_000_000: "7.4 GB", 1 << 60: "1152922 TB"} {
		if got := amount(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}
