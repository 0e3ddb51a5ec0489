package steps

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"touchdown/backend/kube"
)

// originals numbers what a step saves of the cluster's objects in the order of its changes, so that Undo finds all of it
// whatever the answers were then. A step that runs again with other answers adds to it.
type originals struct{ report Report }

func (o originals) key(n int) string { return fmt.Sprintf("change-%03d", n) }

// all returns what was saved, oldest first.
func (o originals) all() [][]byte {
	var all [][]byte
	for {
		b, err := o.report.Saved(o.key(len(all) + 1))
		if err != nil {
			return all
		}
		all = append(all, b)
	}
}

// save is a kube.Save. A change that was saved and then cut off is not saved twice.
func (o originals) save(_ kube.Ref, original []byte) error {
	all := o.all()
	if n := len(all); n > 0 && bytes.Equal(all[n-1], original) {
		return nil
	}
	return o.report.Save(o.key(len(all)+1), original)
}

// mark keeps the state of something at the time of the next change.
func (o originals) mark(name, value string) error {
	return o.report.Save(fmt.Sprintf("%s-%03d", name, len(o.all())+1), []byte(value))
}

// marked returns the newest mark of that name, "" when there is none.
func (o originals) marked(name string) string {
	for n := len(o.all()) + 1; n > 0; n-- {
		if b, err := o.report.Saved(fmt.Sprintf("%s-%03d", name, n)); err == nil {
			return string(b)
		}
	}
	return ""
}

// restore puts everything back, last change first. It returns the objects that had to be changed for it.
func (o originals) restore(ctx context.Context, c *kube.Cluster) (changed []kube.Ref, err error) {
	for i, original := range slices.Backward(o.all()) {
		ref, err := kube.SavedRef(original)
		if err != nil {
			return changed, fmt.Errorf("undoing change %d: %w", i+1, err)
		}
		did, err := c.Restore(ctx, original)
		if err != nil {
			return changed, fmt.Errorf("undoing change %d: %w", i+1, err)
		}
		if did {
			changed = append(changed, ref)
		}
	}
	return changed, nil
}

// withProgress returns the cluster, which reports its waits to the report.
func withProgress(c *kube.Cluster, report Report) *kube.Cluster {
	return c.WithProgress(func(p kube.Progress) {
		report.Progress(Progress{Done: p.Done, Total: p.Total, Unit: p.Unit, Waiting: p.Waiting, Usual: p.Usual.Seconds()})
	})
}
