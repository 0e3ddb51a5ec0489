package store_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/store"
	"touchdown/test/imagestore"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(holdLock); file != "" {
		hold(file)
		return
	}
	os.Exit(imagestore.Main(m))
}

// holdLock names the lock file that this program holds instead of running tests, as another program does.
const holdLock = "STORE_TEST_HOLD"

// hold says that it has the lock, and keeps it until it is killed, or its input ends with who started it.
func hold(file string) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_SETLKW, &unix.Flock_t{Type: unix.F_WRLCK})
	}
	if err != nil {
		panic(err)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(f)
}

// filled is a store with everything that images hold, on a disk that shares blocks.
func filled(t *testing.T, dir string) (*imagestore.Store, []string) {
	t.Helper()
	made := imagestore.New(dir)
	base := made.Layer("", append(imagestore.Odd(), imagestore.Tree(1, 300, 4<<20)...)...)
	second := made.Layer(base, imagestore.Tree(2, 200, 2<<20)...)
	third := made.Layer(base, imagestore.Tree(3, 100, 1<<20)...)
	images := []string{
		made.Image(base, "registry.example/base:v1", "registry.example/base@"),
		made.Image(second, "registry.example/second:v1"), made.Image(third, "registry.example/third:v1"),
	}
	made.Container(second)
	if err := made.Save(); err != nil {
		t.Fatal(err)
	}
	return made, images
}

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func whole(t *testing.T, s *store.Store) {
	t.Helper()
	for name, verify := range map[string]func() ([]store.Damage, error){
		"quick": func() ([]store.Damage, error) { return s.Quick(t.Context(), store.VerifyOptions{}) },
		"full":  func() ([]store.Damage, error) { return s.Full(t.Context(), store.VerifyOptions{}) },
	} {
		found, err := verify()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range found {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestWholeStoreIsFoundWhole(t *testing.T) {
	disk := imagestore.NewDisk(t, "xfs", 1<<30)
	dir := filepath.Join(disk.Dir, "primary")
	filled(t, dir)
	s := open(t, dir)
	if len(s.Images) != 3 || len(s.Layers) != 4 {
		t.Errorf("%d images, %d layers", len(s.Images), len(s.Layers))
	}
	whole(t, s)
}

// TestReadOnlyMountIsReadAgain: one process looks at the mounted store many times.
func TestReadOnlyMountIsReadAgain(t *testing.T) {
	disk := imagestore.NewDisk(t, "xfs", 512<<20)
	filled(t, disk.Dir)
	at := t.TempDir()
	if err := unix.Mount(disk.Dir, at, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	if err := unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if s := open(t, at); len(s.Images) != 3 {
			t.Errorf("%d images", len(s.Images))
		}
	}
}
