package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// slots bounds how many benches of one kind run from the cache at once; each has its own address.
const slots = 16

// fromCache starts from a seeded state nobody else runs, and makes one where there is none.
func (b *bench) fromCache(ctx context.Context) (release func(), err error) {
	key, err := b.cacheKey()
	if err != nil {
		return func() {}, err
	}
	dir := filepath.Join(b.Cache, key)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return func() {}, fmt.Errorf("making the cache of seeded states: %w", err)
	}
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return func() {}, fmt.Errorf("marking the seeded states as used: %w", err)
	}
	b.dropOldCaches(key)
	for n := range slots {
		slot := filepath.Join(dir, strconv.Itoa(n))
		lock, ok := tryLock(slot + ".lock")
		if !ok {
			continue
		}
		release = func() { _ = lock.Close() }
		if _, err := os.Stat(slot); os.IsNotExist(err) {
			return release, b.fillSlot(ctx, slot)
		}
		if err := b.adopt(slot); err != nil {
			b.log.Info("seeded state not used", "slot", n, "reason", err)
			release()
			continue
		}
		return release, b.startServer(ctx)
	}
	return func() {}, b.seed(ctx)
}

// fillSlot seeds a cluster here and leaves a copy of it in the cache.
func (b *bench) fillSlot(ctx context.Context, slot string) error {
	if err := b.seed(ctx); err != nil {
		return err
	}
	b.child.stop()
	if err := copyState(b.State, slot+".new"); err != nil {
		return err
	}
	if err := os.Rename(slot+".new", slot); err != nil {
		return fmt.Errorf("keeping the seeded state: %w", err)
	}
	return b.startServer(ctx)
}

func tryLock(path string) (*os.File, bool) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, false
	}
	return f, true
}

// cacheKey stands for everything a seeded state is made from. The day is part of it because certificates age.
func (b *bench) cacheKey() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the own program: %w", err)
	}
	info, err := os.Stat(self)
	if err != nil {
		return "", fmt.Errorf("looking at the own program: %w", err)
	}
	sum := sha256.New()
	fmt.Fprintln(sum, info.Size(), info.ModTime().UnixNano(), b.Domain, b.Address, time.Now().UTC().Format(time.DateOnly))
	files, err := filepath.Glob(filepath.Join(b.CRDs, "*.yaml"))
	if err != nil {
		return "", fmt.Errorf("listing the definitions: %w", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading a definition: %w", err)
		}
		fmt.Fprintln(sum, filepath.Base(file), len(data))
		sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// dropOldCaches removes states of other inputs that nobody used for a while: every build of this program has its own. Running benches work on copies.
func (b *bench) dropOldCaches(key string) {
	entries, err := os.ReadDir(b.Cache)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.Name() != key && time.Since(info.ModTime()) > 3*time.Hour {
			_ = os.RemoveAll(filepath.Join(b.Cache, e.Name()))
		}
	}
}

// copyState copies a stopped state without its logs and sockets.
func copyState(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && name == "logs":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		return copyFile(path, filepath.Join(to, name))
	})
	if err != nil {
		return fmt.Errorf("copying a seeded state: %w", err)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
