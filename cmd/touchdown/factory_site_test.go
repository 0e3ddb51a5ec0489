package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
)

// TestFactorySite: the site config goes into the node before the wizard opens, sealed, for this machine alone; with --dry-run the same command
// puts none in, and leaves the node off the bench line.
func TestFactorySite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(file, []byte(stickConfig+"  pullSecret: '{\"auths\":{\"r.example\":{\"auth\":\"c2VjcmV0OnNlY3JldA==\"}}}'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(t.Context()) // the wizard ends at once
	end()
	for _, line := range [][]string{{"--unattended"}, {"--unattended", "--dry-run"}} {
		dir := t.TempDir()
		machine := host.Open(host.Options{Root: dir})
		if err := machine.WriteFile("/sys/class/dmi/id/product_serial", []byte("SN1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		root := newRoot(hooks{root: dir})
		var said strings.Builder
		root.SetOut(&said)
		root.SetErr(&said)
		execute(over, root, append([]string{"factory", "--site", file, "--local", "--state", filepath.Join(dir, "state")}, line...))
		text, err := machine.ReadFile(layout.Media + "/baked.dsse.json")
		switch {
		case len(line) == 2:
			if err == nil || factory.OnLine(machine) {
				t.Errorf("%q put it in, or the node on the bench line", line)
			}
		case !factory.OnLine(machine):
			t.Errorf("%q ended before the site config is put in: %s", line, said.String())
		case err != nil || !strings.Contains(said.String(), "is in the node, for serial number SN1 alone") || strings.Contains(string(text)+said.String(), "c2VjcmV0OnNlY3JldA"):
			t.Errorf("%v: %s\n%s", err, said.String(), text)
		}
	}
}

// TestFactoryReopen: a sealed node that comes back without --site loses the site config of the earlier stay, and says so.
func TestFactoryReopen(t *testing.T) {
	dir := t.TempDir()
	machine := host.Open(host.Options{Root: dir})
	if err := machine.WriteFile("/sys/class/dmi/id/product_serial", []byte("SN1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	known := media.Of(machine)
	if _, err := known.Bake([]byte(stickConfig), false); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(t.Context()) // the wizard ends at once
	end()
	for _, line := range [][]string{{}, {"--reopen"}} {
		root := newRoot(hooks{root: dir})
		var said strings.Builder
		root.SetOut(&said)
		root.SetErr(&said)
		execute(over, root, append([]string{"factory", "--local", "--unattended", "--state", filepath.Join(dir, "state")}, line...))
		id, err := known.Baked()
		if reopen := len(line) > 0; err != nil || reopen != (id == nil) || reopen != strings.Contains(said.String(), "is wiped") || !factory.OnLine(machine) {
			t.Errorf("%q: %+v, %v: %s", line, id, err, said.String())
		}
	}
}

// TestFactorySiteUnattended: the flag goes with --site, the document in the node says it, and so does the command.
func TestFactorySiteUnattended(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "site.yaml")
	if err := os.WriteFile(file, []byte(stickConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	machine := host.Open(host.Options{Root: dir})
	if err := machine.WriteFile("/sys/class/dmi/id/product_serial", []byte("SN1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(t.Context()) // the wizard ends at once
	end()
	for want, line := range map[string][]string{
		"--site-unattended goes with --site": {"--site-unattended"}, "STARTS THE LANDING WITHOUT A PERSON": {"--site", file, "--site-unattended"},
	} {
		root := newRoot(hooks{root: dir})
		var said strings.Builder
		root.SetOut(&said)
		root.SetErr(&said)
		execute(over, root, append([]string{"factory", "--local", "--unattended", "--state", filepath.Join(dir, "state")}, line...))
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q: %s", line, said.String())
		}
	}
	if d, err := media.Of(machine).Baked(); err != nil || d == nil || !d.Unattended || d.Serial != "SN1" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestAListThatFailsStays: on the bench line nothing is put back by a failure, not even where the policy of the file asks for it.
func TestAListThatFailsStays(t *testing.T) {
	asks := filepath.Join(t.TempDir(), "line.yaml")
	if err := os.WriteFile(asks, []byte("apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec:\n  policy: {rollbackOnFailure: true, keepGoingOnWarnings: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", asks} {
		f := &factoryFlags{}
		f.file = file
		cfg, err := f.policy(newRoot(hooks{root: t.TempDir()}))
		if err != nil || cfg.Spec.Policy.RollbackOnFailure || cfg.Spec.Policy.KeepGoingOnWarnings != (file != "") {
			t.Errorf("%q: %+v, %v", file, cfg, err)
		}
	}
}
