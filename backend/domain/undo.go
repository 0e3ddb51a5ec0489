package domain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"touchdown/backend/kube"
)

// order is the one in which the three objects of a move are written and put back: Apply says why.
var order = []kube.Ref{kube.Config("ingresses"), kube.Config("apiservers"), kube.IngressController("default")}

// Restore puts back what Apply saved, in the order of Apply and for its reason: the login's old host makes a revision of the API
// server too. Of several originals of one object the oldest is restored last. What else was saved comes at the end.
func Restore(ctx context.Context, c *kube.Cluster, originals [][]byte) error {
	type step struct {
		place    int
		original []byte
	}
	var steps []step
	for _, original := range slices.Backward(originals) {
		ref, err := kube.SavedRef(original)
		if err != nil {
			return fmt.Errorf("putting the names back: %w", err)
		}
		place := slices.Index(order, ref)
		if place < 0 {
			place = len(order)
		}
		steps = append(steps, step{place, original})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.place, b.place) })
	waited := false
	for _, s := range steps {
		if s.place > 0 && !waited {
			waited = true
			if err := oldHostPublished(ctx, c); err != nil {
				return err
			}
		}
		if _, err := c.Restore(ctx, s.original); err != nil {
			return fmt.Errorf("putting the names back: %w", err)
		}
	}
	return nil
}

// oldHostPublished waits for the metadata of the login's host that the restored configuration names.
func oldHostPublished(ctx context.Context, c *kube.Cluster) error {
	ingress, err := c.Get(ctx, kube.Config("ingresses"))
	if err != nil {
		return err
	}
	oauth := components[2]
	there, err := oauth.served(ctx, c, nil)
	if err != nil {
		return err
	}
	spec, _ := ingress["spec"].(map[string]any)
	host := Host{Name: oauth.host + "." + textIn(ingress, "spec", "domain"), Absent: !there}
	if entry := oauth.entry(spec); entry != nil {
		host.Name, _ = entry["hostname"].(string)
	}
	return published(ctx, c, host)
}
