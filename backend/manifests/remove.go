package manifests

import (
	"context"
	"fmt"
	"slices"
	"time"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Kept is an object of the inventory that stays in the cluster, and why.
type Kept struct {
	Brought
	Why message.Text
}

// Remove removes the objects of the inventory that the site no longer lists, the last one first, after it has handed each to save. What is
// not Touchdown's any more is only forgotten; what has data of the cluster's owner, and what the cluster does not let go, is returned. It
// may be repeated.
func Remove(ctx context.Context, c *kube.Cluster, i *Inventory, objects []Object, save kube.Save) (kept []Kept, err error) {
	dropped := i.Dropped(objects)
	for _, b := range slices.Backward(dropped) {
		why, there, err := b.judge(ctx, c)
		if err != nil {
			return kept, fmt.Errorf("looking at %s: %w", b, err)
		}
		if there && why == (message.Text{}) {
			why, err = b.remove(ctx, c, save)
		}
		if err != nil {
			return kept, fmt.Errorf("removing %s: %w", b, err)
		}
		if why != (message.Text{}) {
			kept = append(kept, Kept{b, why})
			continue
		}
		if err := i.forget(b); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// Staying tells which of the objects that Remove would remove have to stay, as far as can be told before it removes any.
func Staying(ctx context.Context, c *kube.Cluster, i *Inventory, objects []Object) (kept []Kept, err error) {
	dropped := i.Dropped(objects)
	for _, b := range dropped {
		why, _, err := b.judge(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("looking at %s: %w", b, err)
		}
		if why != (message.Text{}) {
			kept = append(kept, Kept{b, why})
		}
	}
	return kept, nil
}

// remove removes an object. It tells why the cluster does not let it go.
func (b Brought) remove(ctx context.Context, c *kube.Cluster, save kube.Save) (why message.Text, err error) {
	if _, err := c.Delete(ctx, b.ref(), save); err != nil {
		if ctx.Err() != nil || problem.From(err).Code != "ERR-UNKN" {
			return why, err
		}
		return message.T("the cluster does not take its removal"), nil
	}
	gone, err := awaitGone(ctx, c, b.ref())
	if err == nil && !gone {
		why = message.T("something in the cluster has to clean up first")
	}
	return why, err
}

// awaitGone waits until an object is no longer there, and tells whether it is.
func awaitGone(ctx context.Context, c *kube.Cluster, ref kube.Ref) (gone bool, err error) {
	wait := kube.Wait{What: message.F("the end of %s", ref), Limit: min(goneLimit, c.Pace.Limit), Usual: 10 * time.Second, Code: "MNF-LEFT", Fix: message.T("Look at its finalizers.")}
	err = c.Until(ctx, wait, func(ctx context.Context) (kube.Progress, bool, error) {
		object, err := c.Get(ctx, ref)
		return kube.Progress{Waiting: message.F("%s to be removed", ref)}, object == nil, err
	})
	if err != nil && ctx.Err() == nil && problem.From(err).Code == wait.Code {
		return false, nil
	}
	return err == nil, err
}

// Return brings back what Remove removed, the last one first, as objects of Touchdown's again. An object that someone made in the place of
// one stays theirs. It returns what cannot be there again: the removed one is not gone yet, or the API refuses it.
func Return(ctx context.Context, c *kube.Cluster, originals [][]byte) (left []kube.Ref, err error) {
	for _, original := range slices.Backward(originals) {
		ref, err := kube.SavedRef(original)
		if err != nil {
			return left, err
		}
		back, err := putBack(ctx, c, ref, original)
		if err != nil && ctx.Err() == nil && problem.From(err).Code == "ERR-UNKN" { // the API answers, and refuses it: its namespace can be gone
			back, err = false, nil
		}
		if err != nil {
			return left, fmt.Errorf("bringing %s back: %w", ref, err)
		}
		if !back {
			left = append(left, ref)
		}
	}
	return left, nil
}

func putBack(ctx context.Context, c *kube.Cluster, ref kube.Ref, original []byte) (bool, error) {
	tree, _, err := kube.SavedManifest(original)
	if err != nil {
		return false, err
	}
	have, err := c.Get(ctx, ref)
	if err != nil {
		return false, err
	}
	if have != nil && text(have, "deletionTimestamp") == "" {
		return true, nil // never deleted, or another one
	}
	if have != nil {
		if gone, err := awaitGone(ctx, c, ref); err != nil || !gone {
			return false, err
		}
	}
	meta, _ := tree["metadata"].(map[string]any)
	for _, key := range []string{"deletionTimestamp", "deletionGracePeriodSeconds"} {
		delete(meta, key)
	}
	apiVersion, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	o := Object{APIVersion: apiVersion, Kind: kind, Namespace: ref.Namespace, Name: ref.Name, Tree: tree}
	to, err := o.await(ctx, c) // its definition can just have come back
	if err != nil {
		return false, err
	}
	return true, apply(ctx, c, *to, tree)
}
