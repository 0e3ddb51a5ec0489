package main

import (
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/images/wanted"
	"touchdown/backend/message"
)

func shown(t *testing.T, all bool, r *wanted.Result) string {
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
	r := &wanted.Result{StoreRead: true, Unread: []wanted.Unread{{Source: "deployments", Reason: message.T("The cluster does not let Touchdown list deployments. Give Touchdown the node's own administrator kubeconfig.")}}}
	r.Images = []wanted.Image{
		{Names: []string{"quay.io/x/spare:1"}, Need: wanted.Spare, Present: true, Size: 5},
		{
			Names: []string{"quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:" + strings.Repeat("a", 64)}, Component: "cluster-network-operator", Need: wanted.Boot, BootCritical: true,
			Present: true, Size: 1_234_000_000, Needers: []wanted.Needer{
				{Who: "Deployment openshift-network-operator/network-operator", Need: wanted.Boot, Source: "pods"},
				{Who: "Deployment openshift-network-operator/network-operator", Need: wanted.Boot, Source: "deployments"},
				{Who: "unit x.service", Need: wanted.Boot},
			},
		},
		{
			Names: []string{"quay.io/web:1"}, Need: wanted.Run, Missing: []string{"quay.io/web:1"}, Download: 12_345_678, PullAlways: true,
			Needers:  []wanted.Needer{{Who: "Deployment app/web", Need: wanted.Run}},
			Findings: []wanted.Finding{{Kind: "pull-always", Status: check.Warn, Text: "Deployment app/web (c) asks the registry.", Fix: "Set imagePullPolicy: IfNotPresent."}},
		},
		{Names: []string{"\x1b[2Jevil\n" + strings.Repeat("x", 200)}, Need: wanted.Run, Needers: []wanted.Needer{{Who: "Pod \x1b]0;x\a/ü", Need: wanted.Run}}},
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
