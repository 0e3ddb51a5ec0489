package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/images/layerstore"
)

// switchFile holds the id of the boot in which the store's generation was changed last.
var switchFile = state("switched")

func noteSwitch(m *host.Machine) error {
	boot, err := m.BootID()
	if err != nil {
		return fmt.Errorf("reading the boot's id: %w", err)
	}
	return noteSwitchIn(m, boot)
}

func noteSwitchIn(m *host.Machine, boot string) error {
	if err := m.WriteFile(switchFile, []byte(boot+"\n"), 0o600); err != nil {
		return fmt.Errorf("noting the boot: %w", err)
	}
	return nil
}

// Boot brings the store in order before CRI-O opens it: what a power cut left half done is finished or forgotten, a generation
// that cannot be read gives way to the one before, images are moved where that was asked for, and a rehearsal begins or ends.
// What fails does not keep the rest from being done: the node has to come up in any case.
func Boot(ctx context.Context, m *host.Machine) error {
	// A rehearsal covers CRI-O's own store, so the move comes before it.
	return errors.Join(recoverStore(ctx, m), move(ctx, m), raise(ctx, m))
}

func recoverStore(ctx context.Context, m *host.Machine) error {
	if !seeded(m) {
		return nil
	}
	p := &layerstore.Store{Dir: m.Path(StoreDir)}
	recovered := p.Recover(ctx)
	now, err := p.Current()
	if err == nil {
		_, err = p.Store(ctx, now.N)
	}
	if err == nil {
		return recovered
	}
	before, ok, lost := p.Previous()
	if lost != nil || !ok {
		return errors.Join(recovered, err, lost)
	}
	return errors.Join(recovered, p.Switch(ctx, before.N))
}

// Return puts an earlier generation back into force, if it is still there.
func Return(ctx context.Context, m *host.Machine, n int) error {
	if !seeded(m) {
		return nil
	}
	p, err := layerstore.Open(m.Path(StoreDir))
	if err != nil {
		return fmt.Errorf("opening the image store: %w", err)
	}
	if _, err := p.Generation(n); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := p.Switch(ctx, n); err != nil {
		return fmt.Errorf("putting the earlier images into force: %w", err)
	}
	return nil
}

// retire removes the generation before the current one once a boot went well with the current one. It returns whether it did.
func retire(ctx context.Context, m *host.Machine, s Status) (bool, error) {
	data, err := m.ReadFile(switchFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading when the images were changed: %w", err)
	}
	if !s.Well() || strings.TrimSpace(string(data)) == s.Boot {
		return false, nil
	}
	p, err := layerstore.Open(m.Path(StoreDir))
	if err != nil {
		return false, fmt.Errorf("opening the image store: %w", err)
	}
	if err := p.Prune(ctx, m.Path(Primary)); err != nil {
		return false, fmt.Errorf("removing the earlier images: %w", err)
	}
	if err := m.Remove(switchFile); err != nil {
		return false, fmt.Errorf("forgetting the change: %w", err)
	}
	return true, nil
}
