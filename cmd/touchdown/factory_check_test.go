package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend"
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
		"--force goes with":                {"--reopen", "--force"},
		"--withdraw goes with":             {"--reopen", "--withdraw", "hw-memory"},
		"a waiver is kept":                 {"--unattended", "--dry-run", "--waive", "hw-memory=tested", "--by", "J"},
		"--waive goes with":                {"--reopen", "--waive", "hw-memory=tested", "--by", "J"},
		"--withdraw hw-nonsense: there is": {"--reopen", "--unattended", "--withdraw", "hw-memory", "--withdraw", "hw-nonsense"},
		"--withdraw hw-none: there is no":  {"--unattended", "--returned", "sno-1", "--withdraw", "hw-none"},
		"is not this node":                 {"--unattended", "--returned", "sno-2"},
	} {
		m := sealedNode(t)
		told := journalHead + `{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"check","step":"hardware","check":{"id":"hw-memory","status":"fail"}}` + "\n"
		if err := m.WriteFile(layout.FactoryState+"/journal.jsonl", []byte(told), 0o600); err != nil {
			t.Fatal(err)
		}
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

// TestADryRunGoesOnWithNothing: what a power cut interrupted is left to the byte, be it a job, a wipe or a return.
func TestADryRunGoesOnWithNothing(t *testing.T) {
	begun := journalHead + `{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"started"}` + "\n"
	undone := atWork + `{"seq":3,"time":"2026-01-01T00:00:00Z","kind":"undoing"}` + "\n"
	apply := []string{"apply", "-f", "../../test/sites/store.yaml", "--dry-run"}
	bench := []string{"factory", "--unattended", "--dry-run"}
	for name, c := range map[string]struct {
		line       []string
		file, text string
		says       string
	}{
		"a factory's list":    {bench, "/factory/journal.jsonl", begun, "was interrupted (working)"},
		"its undo":            {bench, "/factory/journal.jsonl", undone, "was interrupted (undoing)"},
		"a landing":           {apply, "/journal.jsonl", begun, "was interrupted (working)"},
		"the undo of one":     {apply, "/journal.jsonl", undone, "was interrupted (undoing)"},
		"a wipe":              {apply, "/wipe-under-way", "", "a wipe of this node was interrupted"},
		"the way to a return": {bench, "/returned/under-way", "{}", "return to the factory was interrupted"},
	} {
		m := sealedNode(t)
		if err := errors.Join(m.Remove(layout.Armed), m.WriteFile(layout.State+c.file, []byte(c.text), 0o600)); err != nil {
			t.Fatal(err)
		}
		before, ran := treeOf(t, m.Root()), 0
		h := hooks{root: m.Root(), stages: func(stages []steps.Stage) {
			for i := range stages {
				stages[i].Steps = nil
			}
			stages[0].Steps = []steps.Step{runs{times: &ran}}
		}}
		root := newRoot(h)
		var said strings.Builder
		root.SetOut(&said)
		root.SetErr(&said)
		code := execute(t.Context(), root, append(slices.Clone(c.line), "--local", "--state", m.Path(layout.State), "--kubeconfig", m.Path("/kubeconfig")))
		if code != exitFailed || !strings.Contains(said.String(), c.says) || ran > 0 {
			t.Errorf("%s: exit %d, %d runs: %s", name, code, ran, said.String())
		}
		after := treeOf(t, m.Root())
		for _, own := range []string{"engine.log", "lock", "key", "sums.jsonl", "factory/lock", "factory/key", "factory/sums.jsonl"} { // the records of the engine
			delete(after, m.Path(layout.State+"/"+own))
		}
		sameTree(t, []string{name}, before, after)
	}
}

// runs is a step that counts how often it ran or was undone.
type runs struct {
	stuck
	times *int
}

func (s runs) Run(context.Context, *backend.Node, steps.Report) error {
	*s.times++
	return nil
}

func (s runs) Undo(context.Context, *backend.Node, steps.Report) error {
	*s.times++
	return nil
}
