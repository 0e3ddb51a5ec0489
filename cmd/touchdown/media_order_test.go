package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/update"
	"touchdown/steps/updates"
	"touchdown/test/stick"
)

// TestAReleaseStickWithAnOrder: `media write --release --unattended` makes a stick whose order a node with one of its serial numbers follows. Another
// stick in its place installs nothing.
func TestAReleaseStickWithAnOrder(t *testing.T) {
	root, in, run := keyed(t)
	folder := signProgram(t, in("release.key"), "#!/bin/sh\necho touchdown v9.1 linux/amd64\n")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("serials.txt", "# site 7\nSN2\r\n\n  SN3  \n")
	code, said := run("media", "write", "--release", folder, "--unattended", "--serial", "SN1", "--serials", in("serials.txt"), "--key", in("release.key"), in("order.img"))
	if code != exitOK || !strings.Contains(said, "installs v9.1 on 3 nodes with nobody there") {
		t.Fatalf("%d\n%s", code, said)
	}
	image, err := os.ReadFile(in("order.img"))
	if err != nil {
		t.Fatal(err)
	}
	machine := host.Open(host.Options{Root: root, Exec: func(_ context.Context, c host.Command) (stdout, both []byte, err error) {
		said := []byte("touchdown v9.1 linux/amd64\n")
		if c.Argv[0] == layout.Program {
			said = []byte("touchdown v9.0 linux/amd64\n")
		}
		return said, said, nil
	}})
	public, err := os.ReadFile(in("release.pub"))
	if err == nil {
		_, err = media.ReleasesOf(machine).Lay(public)
	}
	if err == nil {
		err = machine.WriteFile(layout.Program, []byte("the node's"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	stick.Plug(t, root, "sdb", image)
	w := media.NewWatcher(machine)
	judged := func(serial string) *updates.Offer {
		t.Helper()
		if err := machine.WriteFile("/sys/class/dmi/id/product_serial", []byte(serial+"\n"), 0o444); err != nil {
			t.Fatal(err)
		}
		volumes, err := w.Volumes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return updates.Judge(t.Context(), machine, w, volumes, "v9.0")
	}
	var o *updates.Offer
	for serial, code := range map[string]string{"SN1": "", "sn2": "", "SN3": "", "SN4": "UPD-SERL"} {
		if o = judged(serial); o == nil || o.State != updates.Asks || o.Order == nil || o.Order.Code() != code || o.Order.ID == "" {
			t.Fatalf("%s: %+v, %+v", serial, o, o.Order)
		}
	}
	stick.Pull(t, root, "sdb")
	other := signProgram(t, in("release.key"), "#!/bin/sh\necho touchdown v9.2\n")
	if code, said := run("media", "write", "--release", other, in("other.img")); code != exitOK {
		t.Fatalf("%d\n%s", code, said)
	}
	if image, err = os.ReadFile(in("other.img")); err != nil {
		t.Fatal(err)
	}
	stick.Plug(t, root, "sdb", image)
	code, said = run("update", "--from-stick=sdb", "--sha256="+o.Program)
	if is, err := machine.ReadFile(layout.Program); code != exitFailed || !strings.Contains(said, "UPD-ELSE") || string(is) != "the node's" || err != nil {
		t.Errorf("another stick in its place: %d, %q, %v\n%s", code, is, err, said)
	}
}

// TestOrdersThatAreNotMade: for no machine, with the wrong key, for what has no order of versions.
func TestOrdersThatAreNotMade(t *testing.T) {
	_, in, run := keyed(t)
	folder := signProgram(t, in("release.key"), "#!/bin/sh\necho touchdown v9.1\n")
	bare := signProgram(t, in("release.key"), "#!/bin/sh\necho touchdown 63bb2dce\n")
	foreign := signProgram(t, in("site.key"), "#!/bin/sh\necho touchdown v9.1\n")
	if err := os.WriteFile(in("bad.txt"), []byte("SN1\n../SN2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for says, line := range map[string]string{
		"--unattended needs --serial":   "--release " + folder + " --unattended --key " + in("release.key"),
		"--unattended needs --key":      "--release " + folder + " --unattended --serial SN1",
		"--serial has no part":          "--release " + folder + " --serial SN1",
		"--any-serial has no part":      "--release " + folder + " --unattended --any-serial --key " + in("release.key"),
		"it is not a key for releases":  "--release " + folder + " --unattended --serial SN1 --key " + in("site.key"),
		"UPD-SGN":                       "--release " + foreign + " --unattended --serial SN1 --key " + in("release.key"),
		"is not that of a release":      "--release " + bare + " --unattended --serial SN1 --key " + in("release.key"),
		"boards that have no":           "--release " + folder + " --unattended --serial 0123456789 --key " + in("release.key"),
		"../SN2":                        "--release " + folder + " --unattended --serials " + in("bad.txt") + " --key " + in("release.key"),
		"--serials goes with --release": "-f site.yaml --serials " + in("bad.txt") + " --key " + in("site.key"),
	} {
		code, said := run(append(strings.Fields("media write "+line), in("none.img"))...)
		if code == exitOK || !strings.Contains(said, says) {
			t.Errorf("%s: %d, not %q\n%s", line, code, says, said)
		}
		if _, err := os.Stat(in("none.img")); err == nil {
			t.Errorf("%s: an image was written", line)
		}
	}
	if _, err := update.VersionIn("hello"); err == nil {
		t.Error("a program that is not ours tells a version")
	}
}
