package host

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// readAgain is how long a program may take to go on with the file before; an engine that is to end has 20 s (TimeoutStopSec).
const readAgain = 15 * time.Second

// WriteFor replaces the file on a machine as WriteFile does, for the program that then has to read it. Where that fails the file is again as it was, and
// the program is told once more, so that it goes on with what it had; the next run finds the work undone, and does not take the file for proof
// that it was read.
func (f File) WriteFor(ctx context.Context, m *Machine, read func(context.Context) error) error {
	before, err := m.ReadFile(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := m.WriteFile(f.Path, f.Data, f.Perm); err != nil {
		return err
	}
	failed := read(ctx)
	if failed == nil {
		return nil
	}
	if err == nil {
		err = m.WriteFile(f.Path, before, f.Perm)
	} else {
		err = m.Remove(f.Path)
	}
	if err == nil {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), readAgain)
		defer stop()
		_ = read(ctx) // the first failure is the one to tell
	}
	return errors.Join(failed, err)
}
