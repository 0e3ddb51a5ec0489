package network

import (
	"context"
	"errors"
	"fmt"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
)

// rollBackNote tells that nmstate brings old settings about, and since when. It does so under its own checkpoint, which
// stays behind when this process dies, and would be taken for someone else's. Like the checkpoint it ends with the boot.
const rollBackNote = layout.Run + "/network-roll-back"

// rollBack brings old settings about, and notes that it does.
type rollBack struct {
	host    *host.Machine
	library library
}

func (n *Network) rollBack() rollBack { return rollBack{n.host, n.library} }

// apply brings a state about at once.
func (r rollBack) apply(ctx context.Context, desired []byte) error {
	if err := r.host.WriteFile(rollBackNote, []byte(sinceBoot().String()), 0o600); err != nil {
		return fmt.Errorf("noting the roll-back of the network: %w", err)
	}
	err := r.library.apply(ctx, desired, 0)
	if failed := r.host.Remove(rollBackNote); failed != nil {
		err = errors.Join(err, fmt.Errorf("noting the end of the roll-back: %w", failed))
	}
	return err
}

// interrupted is when a roll-back began that this boot did not see end; 0 where there is none.
func (r rollBack) interrupted() time.Duration {
	b, err := r.host.ReadFile(rollBackNote)
	if err != nil {
		return 0
	}
	since, _ := time.ParseDuration(string(b)) // what cannot be read is none; the file is written as a whole
	return since
}
