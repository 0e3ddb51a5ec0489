// Package stick makes site media, and plugs them into a machine that is a folder.
package stick

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
)

// Key makes a signing key, and its public half as a node is given it.
func Key(t testing.TB) (key envelope.SigningKey, public []byte) {
	t.Helper()
	key, err := envelope.NewSigningKey()
	if err == nil {
		_, public, err = key.Files()
	}
	if err != nil {
		t.Fatal(err)
	}
	return key, public
}

// Image makes a medium of a document with a site config, sealed and signed.
func Image(t testing.TB, d envelope.Document, config string, lock envelope.Lock, key envelope.SigningKey) []byte {
	t.Helper()
	err := d.Seal([]byte(config), lock)
	var signed []byte
	if err == nil {
		signed, err = envelope.Sign(d, key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return Volume(t, media.EnvelopeFile, signed)
}

// Volume makes one with a single file.
func Volume(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	return Files(t, media.Label, volume.File{Name: name, Data: data})
}

// Files makes one with files in its root folder.
func Files(t testing.TB, label string, files ...volume.File) []byte {
	t.Helper()
	i, err := volume.WriteFAT(label, files)
	if err != nil {
		t.Fatal(err)
	}
	return append(append([]byte{}, i.Head...), make([]byte, i.Size-int64(len(i.Head)))...)
}

// minors are the device numbers of the disks that are plugged in.
var minors = map[string]int{"sda": 0, "sdb": 16, "sdc": 32, "sdd": 48, "nvme0n1": 64}

// place tells where sysfs has a disk, or a partition of one as "sdb2", and its device number.
func place(t testing.TB, name string) (at, number string) {
	t.Helper()
	disk, part := name, ""
	if name != "nvme0n1" {
		disk = strings.TrimRight(name, "0123456789")
		part = strings.TrimPrefix(name, disk)
	}
	minor, known := minors[disk]
	if !known {
		t.Fatalf("no device number for %s", name)
	}
	at = "devices/usb1/1-" + disk + "/block/" + disk
	if name == "nvme0n1" {
		at = "devices/pci/" + name
	}
	if part != "" {
		n, err := strconv.Atoi(part)
		if err != nil {
			t.Fatal(err)
		}
		at, minor = at+"/"+name, minor+n
	}
	return at, fmt.Sprintf("8:%d", minor)
}

// Plug puts a medium into a machine below root: a device file, and what sysfs tells of it. A disk whose name begins with nvme is one
// of the machine itself. A partition, as sdb2, is one of a disk that was plugged in before.
func Plug(t testing.TB, root, name string, image []byte) {
	t.Helper()
	at, number := place(t, name)
	files := map[string]string{"dev": number + "\n", "size": fmt.Sprintln(len(image) >> 9), "removable": "0\n"}
	if filepath.Base(filepath.Dir(filepath.Dir(at))) == "block" {
		files["partition"] = "1\n"
	}
	sys := filepath.Join(root, "sys")
	var errs []error
	for _, dir := range []string{"sys/" + at, "sys/class/block", "sys/dev/block", "dev"} {
		errs = append(errs, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for file, text := range files {
		errs = append(errs, os.WriteFile(filepath.Join(sys, at, file), []byte(text), 0o600))
	}
	errs = append(errs,
		os.WriteFile(filepath.Join(root, "dev", name), image, 0o600),
		os.Symlink("../../"+at, filepath.Join(sys, "dev/block", number)),
		os.Symlink("../../"+at, filepath.Join(sys, "class/block", name)))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Pull takes a medium out.
func Pull(t testing.TB, root, name string) {
	t.Helper()
	sys := filepath.Join(root, "sys")
	_, number := place(t, name)
	if err := errors.Join(os.Remove(filepath.Join(sys, "class/block", name)), os.Remove(filepath.Join(sys, "dev/block", number)),
		os.Remove(filepath.Join(root, "dev", name))); err != nil {
		t.Fatal(err)
	}
}
