package iso

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/test/liveiso"
)

func openFilling(t *testing.T, name string) (*os.File, *Filling) {
	t.Helper()
	f, image, err := Open(name, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	filling, err := image.Fill(contentFor(liveiso.Y2023), false)
	if err != nil {
		t.Fatal(err)
	}
	return f, filling
}

// TestACopyIsFilled: the image stays what it is, the copy is whole, for its owner alone, and takes no name that is taken.
func TestACopyIsFilled(t *testing.T) {
	image := liveiso.Make(liveiso.Y2023, true)
	name := on(t, image)
	f, filling := openFilling(t, name)
	out := filepath.Join(filepath.Dir(name), "filled.iso")
	if err := filling.WriteCopy(t.Context(), f, out); err != nil {
		t.Fatal(err)
	}
	want, _ := filled(t, image, contentFor(liveiso.Y2023), false)
	got, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the copy is not the filled image (%v)", err)
	}
	if was, err := os.ReadFile(name); err != nil || !bytes.Equal(was, image) {
		t.Errorf("the image changed (%v)", err)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has the mode %v (%v)", info.Mode(), err)
	}
	wantCode(t, filling.WriteCopy(t.Context(), f, out), "LVE-THRE")
	wantCode(t, filling.WriteCopy(t.Context(), f, filepath.Join(filepath.Dir(name), "none", "a.iso")), "LVE-THRE")
	if err := os.Truncate(name, 4096); err != nil { // another program writes to it
		t.Fatal(err)
	}
	wantCode(t, filling.WriteCopy(t.Context(), f, filepath.Join(filepath.Dir(name), "second.iso")), "LVE-THRE")
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 2 {
		t.Errorf("the folder has %v (%v)", left, err)
	}
}

// TestACopyCanBeInterrupted: nothing is left of it.
func TestACopyCanBeInterrupted(t *testing.T) {
	name := on(t, liveiso.Make(liveiso.Y2023, true))
	f, filling := openFilling(t, name)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := filling.WriteCopy(ctx, f, filepath.Join(filepath.Dir(name), "filled.iso")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v (%v)", left, err)
	}
}

// TestACopyStopsInTheMiddle: what is read after the context ended is its error.
func TestACopyStopsInTheMiddle(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	from := stopping{ctx, bytes.NewReader(make([]byte, 10))}
	if n, err := from.Read(make([]byte, 5)); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	cancel()
	if n, err := io.Copy(io.Discard, from); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", n, err)
	}
}

// TestPublishWhereRenameIsOld: a file gets its name on file systems such as NFS, and does not take one that is taken.
func TestPublishWhereRenameIsOld(t *testing.T) {
	old := func(string, string) error { return unix.EINVAL }
	dir := t.TempDir()
	temp, name := filepath.Join(dir, "temp"), filepath.Join(dir, "name")
	for n, want := range []error{nil, os.ErrExist} {
		if err := os.WriteFile(temp, []byte{byte(n)}, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := publish(temp, name, old); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", n, err, want)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, []byte{0}) {
			t.Errorf("%d: %v, %v", n, got, err)
		}
		if _, err := os.Lstat(temp); errors.Is(err, os.ErrNotExist) != (n == 0) {
			t.Errorf("%d: the first name: %v", n, err)
		}
	}
}

// TestAFileThatOthersReadIsRefused: not every file system keeps the mode that a file is given.
func TestAFileThatOthersReadIsRefused(t *testing.T) {
	name := on(t, []byte("image"))
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o600, 0o700} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		err := private(f, name)
		if mode&0o077 != 0 {
			wantCode(t, err, "LVE-PERM")
		} else if err != nil {
			t.Errorf("%04o: %v", mode, err)
		}
	}
}

// TestAnImageIsFilledInPlace, and by one program at a time.
func TestAnImageIsFilledInPlace(t *testing.T) {
	image := liveiso.Make(liveiso.Y2021, false)
	name := on(t, image)
	f, i, err := Open(name, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err := Open(name, true); err == nil {
		t.Error("two programs may write")
	} else {
		wantCode(t, err, "LVE-BUSY")
	}
	filling, err := i.Fill(contentFor(liveiso.Y2021), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := filling.WriteInPlace(f); err != nil {
		t.Fatal(err)
	}
	want, _ := filled(t, image, contentFor(liveiso.Y2021), false)
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("it is not the filled image (%v)", err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v (%v)", info.Mode(), err)
	}
	_, _, err = Open(filepath.Dir(name), false)
	wantCode(t, err, "LVE-READ")
	_, _, err = Open(name+".none", false)
	wantCode(t, err, "LVE-READ")
}

// failing is a disk whose n-th write or sync fails. What was written since the last sync may or may not be on it, each sector of 512
// bytes for itself.
type failing struct {
	disk
	left    int
	pending []patch
}

var errPower = errors.New("no power")

func (d *failing) step() error {
	if d.left == 0 {
		return errPower
	}
	d.left--
	return nil
}

func (d *failing) WriteAt(b []byte, offset int64) (int, error) {
	for from := 0; from < len(b); {
		to := min(len(b), from+512-int(offset+int64(from))%512)
		if at := offset + int64(from); !bytes.Equal(d.b[at:at+int64(to-from)], b[from:to]) { // else it makes no difference whether it was written
			d.pending = append(d.pending, patch{at, bytes.Clone(b[from:to])})
		}
		from = to
	}
	return len(b), d.step()
}

func (d *failing) Sync() error {
	if err := d.step(); err != nil {
		return err
	}
	for _, p := range d.pending {
		copy(d.b[p.offset:], p.data)
	}
	d.pending = nil
	return nil
}

// leftovers are images that a power cut may leave: with none of the pending sectors, with all, with each one alone, without each one,
// and with the first ones and the last ones.
func (d *failing) leftovers() [][]byte {
	n := len(d.pending)
	with := func(keep func(i int) bool) []byte {
		b := bytes.Clone(d.b)
		for i, p := range d.pending {
			if keep(i) {
				copy(b[p.offset:], p.data)
			}
		}
		return b
	}
	all := [][]byte{with(func(int) bool { return false }), with(func(int) bool { return true })}
	for one := range n {
		all = append(all, with(func(i int) bool { return i == one }), with(func(i int) bool { return i != one }), with(func(i int) bool { return i < one }), with(func(i int) bool { return i > one }))
	}
	return all
}

// TestAPowerCutIsSeen cuts the power at each write and sync, and leaves any part of what was not synced. What is left is the image as it
// was, the filled one, or one of which Read says that it is half written, and which can be filled again.
func TestAPowerCutIsSeen(t *testing.T) {
	for _, kind := range liveiso.Kinds {
		clean := liveiso.Make(kind, false)
		old, _ := filled(t, clean, Content{Ignition: noise(1, 1500)}, false)
		content := contentFor(kind)
		content.Ignition = noise(2, 1200) // in several sectors
		for _, before := range [][]byte{clean, old} {
			after, _ := filled(t, before, content, true)
			f, err := mustRead(t, before).Fill(content, true)
			if err != nil {
				t.Fatal(err)
			}
			halves := 0
			for cut := 0; ; cut++ {
				d := &failing{disk: disk{bytes.Clone(before)}, left: cut}
				if f.write(d) == nil {
					break
				}
				for _, image := range d.leftovers() {
					if bytes.Equal(image, before) || bytes.Equal(image, after) {
						continue
					}
					i := mustRead(t, image)
					if i.Half == "" {
						t.Fatalf("%s: after %d writes and syncs, an image that is neither of both is taken for whole", kind, cut)
					}
					halves++
				}
			}
			if halves == 0 {
				t.Errorf("%s: no image was half written", kind)
			}
		}
	}
	d := &failing{disk: disk{liveiso.Make(liveiso.Y2023, false)}, left: 2} // and what is half written is filled again
	whole, _ := filled(t, d.b, contentFor(liveiso.Y2023), false)
	f, err := mustRead(t, d.b).Fill(contentFor(liveiso.Y2023), false)
	if err != nil || f.write(d) == nil {
		t.Fatalf("the power was not cut (%v)", err)
	}
	i := mustRead(t, d.b)
	_, err = i.Fill(contentFor(liveiso.Y2023), false)
	wantCode(t, err, "LVE-HALF")
	if again, _ := filled(t, d.b, contentFor(liveiso.Y2023), true); !bytes.Equal(again, whole) {
		t.Error("it is not as if nothing had happened")
	}
}
