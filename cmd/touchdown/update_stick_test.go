package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/steps/updates"
	"touchdown/test/stick"
)

// TestUpdateFromAStick: `media write --release` makes a stick that `update --from-stick` takes, and so does a stick with FAT that has the same
// files. What is wrong with a stick is told, and installs nothing.
func TestUpdateFromAStick(t *testing.T) {
	root, in, run := keyed(t)
	machine := host.Open(host.Options{Root: root})
	lay := func(key string, keys func([]byte) (bool, error)) {
		t.Helper()
		text, err := os.ReadFile(in(key))
		if err == nil {
			_, err = keys(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	lay("site.pub", media.Of(machine).Lay)
	lay("release.pub", media.ReleasesOf(machine).Lay)
	if err := machine.WriteFile(layout.Program, []byte("the node's"), 0o755); err != nil {
		t.Fatal(err)
	}
	release, image := signRelease(t, in("release.key")), in("release.img")
	if code, said := run("media", "write", "--release", release, image); code != exitOK || !strings.Contains(said, "update --from-stick") {
		t.Fatalf("%d\n%s", code, said)
	}
	if code, said := run("media", "write", "--release", release, "--key", in("site.key"), image, "--force"); code != exitUsage || !strings.Contains(said, "--key has no part") {
		t.Errorf("a release with a key for media: %d\n%s", code, said)
	}
	written, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	fat := func(folder string, spoil func(name string, data []byte) []byte) []byte {
		t.Helper()
		var files []volume.File
		for _, name := range []string{"touchdown", "SHA256SUMS", "SHA256SUMS.sig"} {
			data, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if data = spoil(name, data); data != nil {
				files = append(files, volume.File{Name: name, Data: data})
			}
		}
		return stick.Files(t, "STICK", files...)
	}
	as := func(_ string, data []byte) []byte { return data }
	only := func(file string, spoil func([]byte) []byte) func(string, []byte) []byte {
		return func(name string, data []byte) []byte {
			if name != file {
				return data
			}
			return spoil(data)
		}
	}
	huge := fat(release, as)
	copy(huge[bytes.Index(huge, []byte("FILE~000"))+28:], "\xff\xff\xff\xff")
	for name, c := range map[string]struct {
		sticks map[string][]byte
		flag   string
		says   string // UPD-STRT: it came past everything; no program starts below another root
	}{
		"no stick":               {nil, "--from-stick", "UPD-NREL"},
		"a stick of media write": {map[string][]byte{"sdb": written}, "--from-stick", "UPD-STRT"},
		"a stick with FAT":       {map[string][]byte{"sdb": fat(release, as)}, "--from-stick", "UPD-STRT"},
		"two sticks":             {map[string][]byte{"sdb": written, "sdc": fat(release, as)}, "--from-stick", "UPD-MANY"},
		"two, and one is named":  {map[string][]byte{"sdb": written, "sdc": fat(release, as)}, "--from-stick=sdc", "There is a release on STICK (sdc)"},
		"another is named":       {map[string][]byte{"sdb": written}, "--from-stick=sdd", "UPD-NREL"},
		"a disk of the machine":  {map[string][]byte{"nvme0n1": written}, "--from-stick", "UPD-NREL"},
		"no signature":           {map[string][]byte{"sdb": fat(release, only("SHA256SUMS.sig", func([]byte) []byte { return nil }))}, "--from-stick", "UPD-NREL"},
		"a key for media":        {map[string][]byte{"sdb": fat(signRelease(t, in("site.key")), as)}, "--from-stick", "UPD-MKEY"},
		"an unknown key":         {map[string][]byte{"sdb": fat(release, only("SHA256SUMS.sig", func(s []byte) []byte { return make([]byte, len(s)) }))}, "--from-stick", "UPD-SGN"},
		"a cut program":          {map[string][]byte{"sdb": fat(release, only("touchdown", func(p []byte) []byte { return p[:len(p)-1] }))}, "--from-stick", "UPD-SUM"},
		"a program of 4 GiB":     {map[string][]byte{"sdb": huge}, "--from-stick", "MED-LRGE"},
		"a cut volume":           {map[string][]byte{"sdb": written[:48<<10]}, "--from-stick", "MED-BAD"},
		"no volume":              {map[string][]byte{"sdb": make([]byte, 1<<20)}, "--from-stick", "UPD-NREL"},
	} {
		for disk, image := range c.sticks {
			stick.Plug(t, root, disk, image)
		}
		if code, said := run("update", c.flag, "--dry-run"); code != exitFailed || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d, want %q\n%s", name, code, c.says, said)
		}
		for disk := range c.sticks {
			stick.Pull(t, root, disk)
		}
	}
	for _, line := range []string{"update --from-stick --back", "update x --from-stick", "update --back --older", "update"} {
		if code, said := run(strings.Fields(line)...); code != exitUsage {
			t.Errorf("%s: %d\n%s", line, code, said)
		}
	}
}

// TestALargeFileIsInMemoryOnce: what a release is read into has room for its file and the reader's reply, and not for twice as much.
func TestALargeFileIsInMemoryOnce(t *testing.T) {
	root := t.TempDir()
	w := media.NewWatcher(host.Open(host.Options{Root: root}))
	program := bytes.Repeat([]byte("touchdown"), 150_000) // more than a power of two, which a growing buffer would pass
	image, err := media.MakeRelease(map[string][]byte{"touchdown": program})
	if err != nil {
		t.Fatal(err)
	}
	stick.Plug(t, root, "sdb", append(image.Head, make([]byte, image.Size-int64(len(image.Head)))...))
	all, err := w.Volumes(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	data, err := w.ReadLarge(t.Context(), all[0], "touchdown", 128<<20)
	if err != nil || !bytes.Equal(data, program) {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if most := len(program) + 64<<10; cap(data) > most {
		t.Errorf("%d bytes are in %d bytes of memory", len(data), cap(data))
	}
	if _, err := w.ReadLarge(t.Context(), all[0], "other", 128<<20); err == nil || !strings.Contains(err.Error(), "MED-AWAY") {
		t.Errorf("a file that was not listed: %v", err)
	}
}

// TestAnotherStickAfterTheLook: a volume is read under the name that it had when it was listed, and not what came into its socket since.
func TestAnotherStickAfterTheLook(t *testing.T) {
	root := t.TempDir()
	w := media.NewWatcher(host.Open(host.Options{Root: root}))
	stick.Plug(t, root, "sdb", stick.Volume(t, "touchdown", []byte("one")))
	all, err := w.Volumes(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if data, err := w.ReadLarge(t.Context(), all[0], "touchdown", 3); err != nil || string(data) != "one" {
		t.Errorf("%q, %v", data, err)
	}
	stick.Pull(t, root, "sdb")
	stick.Plug(t, root, "sdb", append(stick.Volume(t, "touchdown", []byte("two")), make([]byte, 512)...))
	if data, err := w.ReadLarge(t.Context(), all[0], "touchdown", 3); err == nil || !strings.Contains(err.Error(), "MED-AWAY") {
		t.Errorf("another stick: %q, %v", data, err)
	}
}

// TestUpdateToTheProgramThatWasShown: a console gives the SHA-256 of the release that it has shown. Another stick installs nothing, and what
// became of it is noted for the consoles where one of them asked.
func TestUpdateToTheProgramThatWasShown(t *testing.T) {
	root, in, run := keyed(t)
	machine := host.Open(host.Options{Root: root})
	text, err := os.ReadFile(in("release.pub"))
	if err == nil {
		_, err = media.ReleasesOf(machine).Lay(text)
	}
	if err == nil {
		err = machine.WriteFile(layout.Program, []byte("the node's"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	started := host.Open(host.Options{Root: root, Exec: func(context.Context, host.Command) (stdout, both []byte, err error) { return nil, nil, nil }})
	folder := signRelease(t, in("release.key"))
	program, err := os.ReadFile(filepath.Join(folder, "touchdown"))
	if err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(program))
	for given, says := range map[string]string{strings.Repeat("0", 64): "UPD-ELSE", sum: "UPD-STRT"} { // UPD-STRT: it came past everything
		// A command by hand does not answer a console, and neither does a dry run.
		if code, said := run("update", folder, "--sha256", given); code != exitFailed || !strings.Contains(said, says) || updates.Last(machine) != nil {
			t.Errorf("%s: %d\n%s", given, code, said)
		}
		asked := updates.Offer{Version: "v9", Has: "v8", Device: "sdb", Program: given}
		if err := updates.Start(t.Context(), started, asked, ""); err != nil {
			t.Fatal(err)
		}
		if code, said := run("update", folder, "--sha256", given, "--dry-run"); code != exitFailed || !updates.Last(machine).Runs() {
			t.Errorf("%d\n%s", code, said)
		}
		code, said := run("update", folder, "--sha256", given)
		if r := updates.Last(machine); code != exitFailed || r.State != updates.Failed || r.Problem.Code != says || r.Version != "v9" || r.Ended.IsZero() {
			t.Errorf("%d, %+v\n%s", code, r, said)
		}
		if err := updates.Forget(machine); err != nil {
			t.Fatal(err)
		}
	}
}
