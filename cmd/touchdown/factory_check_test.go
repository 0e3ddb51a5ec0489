package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/steps"
)

// sealedNode is a node that waits for its site, with a backup and a site config in it.
func sealedNode(t *testing.T) *host.Machine {
	t.Helper()
	m := host.Open(host.Options{Root: t.TempDir(), NoPower: true})
	for path, text := range map[string]string{
		"/sys/class/dmi/id/product_serial": "SN1\n", "/proc/sys/kernel/hostname": "sno-1\n", layout.Armed: "sealed\n", layout.ClusterBackup + "/snapshot": "etcd", "/kubeconfig": noCluster,
	} {
		if err := m.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := media.Of(m).Bake([]byte(stickConfig), false); err != nil {
		t.Fatal(err)
	}
	return m
}

// treeOf is all that lies in a folder, by name.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFactoryJudgesItsCommandLineFirst: what is wrong with the words changes nothing on a sealed node, and nothing beside it: it keeps its
// seal, its backup and its site config, and no ledger, order sheet, wish or key is written.
func TestFactoryJudgesItsCommandLineFirst(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte("apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec: {policy: {allowReboot: true}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	makesKey(t, filepath.Join(dir, "factory"))
	all := []string{"--ledger", filepath.Join(dir, "ledger.jsonl"), "--order", "sno", "--burn-in", "30m", "--media-key", filepath.Join(dir, "factory.pub")}
	for says, line := range map[string][]string{
		"-f goes with --unattended":        {"--reopen", "-f", policy},
		"needs a terminal":                 {"--reopen"},
		"--dry-run goes with --unattended": {"--dry-run"},
		"[reopen dry-run]":                 {"--reopen", "--unattended", "--dry-run"},
		"give CHECK=REASON":                {"--reopen", "--unattended", "--waive", "disk"},
		"text or json":                     {"--reopen", "--unattended", "-o", "yaml"},
		"--language":                       {"--reopen", "--language", "tlh"},
		"is not this node":                 {"--unattended", "--returned", "sno-2"},
	} {
		m := sealedNode(t)
		before, beside := treeOf(t, m.Root()), treeOf(t, dir)
		code, said := factoryOn(t.Context(), hooks{root: m.Root()}, m, append(line, all...)...)
		if code != exitUsage || !strings.Contains(said, says) {
			t.Errorf("%q: exit %d without %q: %s", line, code, says, said)
		}
		sameTree(t, line, before, treeOf(t, m.Root()))
		sameTree(t, line, beside, treeOf(t, dir))
	}
}

// TestFactoryDryRun: the list is reviewed on a node that is not on the bench line, and all that the command line would keep is kept nowhere.
// A sealed node stays sealed.
func TestFactoryDryRun(t *testing.T) {
	dir := t.TempDir()
	makesKey(t, filepath.Join(dir, "factory"))
	line := []string{
		"--unattended", "--dry-run", "--ledger", filepath.Join(dir, "ledger.jsonl"), "--order", "sno", "--burn-in", "30m",
		"--media-key", filepath.Join(dir, "factory.pub"), "--second-key", filepath.Join(dir, "factory.pub"),
	}
	m := sealedNode(t)
	before, beside := treeOf(t, m.Root()), treeOf(t, dir)
	if code, said := factoryOn(t.Context(), hooks{root: m.Root()}, m, line...); code != exitFailed || !strings.Contains(said, "FAC-SEAL") {
		t.Errorf("sealed: exit %d: %s", code, said)
	}
	sameTree(t, line, before, treeOf(t, m.Root()))
	sameTree(t, line, beside, treeOf(t, dir))

	if err := m.Remove(layout.Armed); err != nil {
		t.Fatal(err)
	}
	before = treeOf(t, m.Root())
	delete(before, m.Path(layout.Armed))
	reviewed := hooks{root: m.Root(), stages: func(stages []steps.Stage) {
		none := 0
		for i := range stages {
			stages[i].Steps = nil
		}
		stages[0].Steps = []steps.Step{stuck{&none}}
	}}
	if code, said := factoryOn(t.Context(), reviewed, m, line...); code != exitOK {
		t.Errorf("exit %d: %s", code, said)
	}
	after := treeOf(t, m.Root())
	for _, own := range []string{"engine.log", "factory/lock", "factory/key", "factory/sources.json", "factory/journal.jsonl", "factory/sums.jsonl", "factory/site.yaml"} {
		delete(after, m.Path(layout.State+"/"+own)) // the records of the engine
	}
	sameTree(t, line, before, after)
	sameTree(t, line, beside, treeOf(t, dir))
}

// factoryOn runs touchdown factory on a machine. The command starts its own engine.
func factoryOn(ctx context.Context, h hooks, m *host.Machine, line ...string) (int, string) {
	root := newRoot(h)
	var said strings.Builder
	root.SetOut(&said)
	root.SetErr(&said)
	code := execute(ctx, root, append([]string{"factory", "--local", "--state", m.Path(layout.State), "--kubeconfig", m.Path("/kubeconfig")}, line...))
	return code, said.String()
}

func sameTree(t *testing.T, line []string, before, after map[string]string) {
	t.Helper()
	for path, text := range before {
		if now, there := after[path]; !there || now != text {
			t.Errorf("%q: %s was changed, or is gone", line, path)
		}
	}
	for path := range after {
		if _, there := before[path]; !there {
			t.Errorf("%q: %s is new", line, path)
		}
	}
}

func makesKey(t *testing.T, name string) {
	t.Helper()
	root := newRoot(hooks{})
	root.SetOut(&strings.Builder{})
	if code := execute(t.Context(), root, []string{"media", "keygen", name}); code != exitOK {
		t.Fatalf("exit %d", code)
	}
}
