package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// imageFile is where the prepared disk of a name is kept.
func (m *Machine) imageFile(name string) string { return imageFile(m.cache, name) }

func imageFile(cache, name string) string { return filepath.Join(cache, name+".img") }

// Save keeps a copy of the disk of a machine that is off, under a name that Options.Image can start from.
func (m *Machine) Save(ctx context.Context, name string) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	if m.isOn() {
		return errors.New("saving the node's disk: it is on")
	}
	if err := m.unmount(ctx); err != nil {
		return err
	}
	file := m.imageFile(name)
	if err := m.world.run(ctx, "cp", "--sparse=always", m.image(), file+".new"); err != nil {
		return fmt.Errorf("saving the node's disk: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("saving the node's disk: %w", err)
	}
	return m.mount(ctx)
}

// EnsureImage returns the name of a prepared disk and makes it first where there is none yet. The name of the disk holds
// key: whatever the disk is made from must be part of it. build gets a machine that is off and leaves it off.
func EnsureImage(ctx context.Context, name, key string, o Options, build func(context.Context, *Machine) error) (string, error) {
	cache, err := ready()
	if err != nil {
		return "", err
	}
	full := name + "-" + key
	if now := time.Now(); os.Chtimes(imageFile(cache, full), now, now) == nil { // it is there, and used now
		return full, nil
	}
	// The place before the lock: who has the lock must not wait for the place of someone who waits for the lock.
	place, err := takePlace(ctx, cache)
	if err != nil {
		return "", err
	}
	defer place.Close()
	lock, err := os.OpenFile(filepath.Join(cache, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("locking the prepared disk: %w", err)
	}
	defer lock.Close()
	// Only one makes it; the others wait and find it.
	if err := poll(ctx, "another who makes the disk "+name, func() bool {
		return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	}); err != nil {
		return "", err
	}
	if _, err := os.Stat(imageFile(cache, full)); err == nil {
		return full, nil
	}
	m, err := assemble(ctx, cache, o)
	if err != nil {
		return "", err
	}
	if err := build(ctx, m); err != nil {
		return "", errors.Join(fmt.Errorf("preparing the disk %s: %w", name, err), m.Close())
	}
	if err := m.Save(ctx, full); err != nil {
		return "", errors.Join(err, m.Close())
	}
	dropOlder(cache, name, full)
	return full, m.Close()
}

// dropOlder removes the prepared disks of one name that were made from something else, unless they were used lately: a tree
// goes back and forth between branches. Machines work on copies.
func dropOlder(cache, name, keep string) {
	files, err := filepath.Glob(imageFile(cache, name+"-*"))
	if err != nil {
		return
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err == nil && file != imageFile(cache, keep) && time.Since(info.ModTime()) > 2*time.Hour {
			_ = os.Remove(file)
		}
	}
}
