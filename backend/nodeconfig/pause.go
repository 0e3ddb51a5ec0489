package nodeconfig

import (
	"context"

	"touchdown/backend/layout"
)

// without does what needs no configuration of the pool. What does is refused before anything is written, unless the node has it.
func (b Batch) without(ctx context.Context, changes, pending []Change) error {
	if Renders(pending) {
		return b.Pause.Held()
	}
	if Renders(changes) {
		p, _, err := b.Cluster.Pool(ctx, layout.Pool)
		if err != nil {
			return err
		}
		if _, ours, err := b.missing(ctx, p.Status.Configuration.Name, changes); err != nil {
			return err
		} else if ours {
			return b.Pause.Held()
		}
	}
	return b.write(ctx, pending)
}
