package hardware_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchdown/backend/hardware"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/problem"
)

// take makes a snapshot of a machine.
func take(t testing.TB, m *hosttest.Fake) (*hardware.Inventory, []byte) {
	t.Helper()
	var packed bytes.Buffer
	i, err := hardware.Snapshot(t.Context(), m.Machine, hardware.Options{Now: func() time.Time { return now }}, &packed)
	if err != nil {
		t.Fatal(err)
	}
	return i, packed.Bytes()
}

// TestReplayShowsTheSame: what support sees is what the machine showed, that a program is not there too.
func TestReplayShowsTheSame(t *testing.T) {
	m := whole(t)
	m.File("/proc/self/mounts", m.Content("/proc/self/mounts")+"//server/share /mnt cifs username=boss,password=hunter2 0 0\n")
	for _, c := range []struct {
		name string
		edit func()
	}{
		{"whole", func() {}},
		{"no smartctl", func() { m.On("smartctl", "", exec.ErrNotFound) }},
		{"no TPM", func() { _ = os.RemoveAll(m.Path("/sys/class/tpm")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.edit()
			i, packed := take(t, m)
			got, err := hardware.Replay(t.Context(), bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			// The folder that is the machine here has no routes, which the snapshot cannot know.
			delete(got.Errors, "routes")
			if !reflect.DeepEqual(got.Document(), i.Document()) || got.Text() != i.Text() {
				t.Errorf("replayed:\n%s\nwant:\n%s\n%v\n%v", got.Text(), i.Text(), got.Errors, i.Errors)
			}
			if plain := unzip(t, packed); bytes.Contains(plain, []byte("hunter2")) {
				t.Error("the snapshot holds a password of a mount")
			}
		})
	}
}

func unzip(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestSnapshotsOfGhwReplay: ghw's own snapshots have the same form.
func TestSnapshotsOfGhwReplay(t *testing.T) {
	fewNames(t)
	all, err := filepath.Glob(filepath.Join(snapshots(t), "linux-*.tar.gz"))
	if err != nil || len(all) < 8 {
		t.Fatalf("%d snapshots, %v", len(all), err)
	}
	for _, file := range all {
		t.Run(filepath.Base(file), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			i, err := hardware.Replay(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			if i.CPU.Threads == 0 && i.Memory.Usable == 0 {
				t.Errorf("nothing was found: %v", i.Errors)
			}
		})
	}
}

// file is one entry of a snapshot that someone else made.
type file struct {
	name, link, content string
	kind                byte // 0: a file, or a link where there is one
}

func pack(t testing.TB, files ...file) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	w := tar.NewWriter(zip)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Linkname: f.link, Mode: 0o644, Size: int64(len(f.content)), Typeflag: f.kind}
		if h.Typeflag == 0 && f.link != "" {
			h.Typeflag = tar.TypeSymlink
		} else if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// TestBadSnapshots: each is refused with a reason, nothing is written elsewhere, and nothing is left over.
func TestBadSnapshots(t *testing.T) {
	meminfo := file{name: "proc/meminfo", content: "MemTotal: 8000000 kB\n"}
	large := strings.Repeat("x", 2<<20)
	var many []file
	for n := range 70 {
		many = append(many, file{name: "sys/" + strings.Repeat("a", n+1), content: large[:1<<20]})
	}
	for name, c := range map[string]struct {
		packed []byte
		says   string
	}{
		"nothing":                    {nil, "not a snapshot of Touchdown"},
		"text":                       {[]byte("hello"), "not a snapshot of Touchdown"},
		"an empty archive":           {pack(t), "it is empty"},
		"a path upwards":             {pack(t, meminfo, file{name: "../evil", content: "x"}), "where no snapshot has one"},
		"a path upwards, hidden":     {pack(t, file{name: "sys/../../evil", content: "x"}), "where no snapshot has one"},
		"a path from the root":       {pack(t, file{name: "/etc/evil", content: "x"}), "where no snapshot has one"},
		"nothing that belongs there": {pack(t, file{name: "etc/evil", content: "x"}, file{name: "touchdown.json/x"}), "it is empty"},
		"a link to the root":         {pack(t, file{name: "sys/a", link: "/etc"}), "link out of the snapshot"},
		"a link upwards":             {pack(t, file{name: "sys/a", link: "../../etc"}), "link out of the snapshot"},
		"a link upwards by a link":   {pack(t, file{name: "sys/p/q/r", link: "../.."}, file{name: "sys/evil", link: "p/q/r/../../.."}), "leads nowhere"},
		"a link in a circle":         {pack(t, file{name: "sys/a", link: "b"}, file{name: "sys/b", link: "a"}), "leads nowhere"},
		"a hard link":                {pack(t, meminfo, file{name: "sys/a", link: "proc/meminfo", kind: tar.TypeLink}), "neither a file nor a folder nor a link"},
		"a pipe":                     {pack(t, file{name: "sys/a", kind: tar.TypeFifo}), "neither a file nor a folder nor a link"},
		"a device":                   {pack(t, file{name: "sys/a", kind: tar.TypeBlock}), "neither a file nor a folder nor a link"},
		"a file twice as a link":     {pack(t, meminfo, file{name: "proc/meminfo", link: "x"}), "unpacking proc/meminfo"},
		"a file too large":           {pack(t, file{name: "sys/a", content: large}), "too large"},
		"too much":                   {pack(t, many...), "too large"},
		"a name to steer terminals":  {pack(t, file{name: "../\x1b[2Jevil", content: "x"}), "where no snapshot has one: ../[2Jevil"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			_, err := hardware.Replay(t.Context(), bytes.NewReader(c.packed))
			p, ok := errors.AsType[*problem.Problem](err)
			if !ok || p.Code != "PRT-SNAP" || !strings.Contains(p.Err.Error(), c.says) {
				t.Errorf("it ended with %v, want %q", err, c.says)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// TestTruncatedSnapshot cuts a snapshot at many places: each time it is said that it is not whole.
func TestTruncatedSnapshot(t *testing.T) {
	m := hosttest.New(t)
	good(m)
	m.File(tables, dimms())
	_, packed := take(t, m)
	for n := 1; n <= 40; n++ {
		cut := packed[:len(packed)*n/41]
		_, err := hardware.Replay(t.Context(), bytes.NewReader(cut))
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok || !strings.Contains(p.Err.Error(), "ends in the middle") && !strings.Contains(p.Err.Error(), "not a snapshot of Touchdown") {
			t.Errorf("%d of %d bytes: %v", len(cut), len(packed), err)
		}
	}
}

// FuzzReplay: whatever is replayed, it ends, and leaves nothing behind.
func FuzzReplay(f *testing.F) {
	for _, files := range [][]file{
		{{name: "proc/meminfo", content: "MemTotal: 8000000 kB\nMemTotal\n"}, {name: "proc/cpuinfo", content: "processor: 0\n"}},
		{{name: "sys/class/net/eno1", link: "../../devices/pci0000:00/net/eno1"}, {name: "sys/devices/pci0000:00/net/eno1/address", content: "x"}},
		{{name: "touchdown.json", content: `{"format":1,"links":{"eno1":{"addresses":["192.0.2.1/24"]}}}`}, {name: "sys/block/sda/size", content: "-1"}},
		{{name: "sys/firmware/dmi/tables/DMI", content: dimms()}, {name: "sys/bus/pci/devices/0000:00:00.0/modalias", content: "pci:v"}},
	} {
		f.Add(unzipped(pack(f, files...)))
	}
	dir := f.TempDir()
	fewNames(f)
	f.Setenv("TMPDIR", dir)
	f.Fuzz(func(t *testing.T, plain []byte) {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		_, _ = zip.Write(plain)
		_ = zip.Close()
		if i, err := hardware.Replay(t.Context(), &packed); err == nil {
			_, _ = i.Text(), i.Document()
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	})
}

func unzipped(packed []byte) []byte {
	r, _ := gzip.NewReader(bytes.NewReader(packed))
	plain, _ := io.ReadAll(r)
	return plain
}

// BenchmarkReplay is the inventory of a server with two sockets, 24 threads and 82 PCI devices, with unpacking it.
func BenchmarkReplay(b *testing.B) {
	_, packed := take(b, whole(b))
	for b.Loop() {
		if _, err := hardware.Replay(b.Context(), bytes.NewReader(packed)); err != nil {
			b.Fatal(err)
		}
	}
}
