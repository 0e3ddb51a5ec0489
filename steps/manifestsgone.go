package steps

import (
	"context"
	"slices"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/manifests"
	"touchdown/backend/message"
)

// mostPlanned is how many objects the review names; the rest is a number. Chosen: a screen.
const mostPlanned = 20

// removals are the objects of earlier landings that the site config no longer lists, for the review. Where the cluster runs, it tells
// which of them stay.
func removals(ctx context.Context, node *backend.Node, objects []manifests.Object) (changes []Change, err error) {
	in, _ := readInventory(node)
	dropped := in.Dropped(objects)
	if len(dropped) == 0 {
		return nil, nil
	}
	c := node.Kube.Within(formTimeout)
	running, _ := c.Ready(ctx)
	var staying []manifests.Kept
	if running {
		if staying, err = manifests.Staying(ctx, c, in, objects); err != nil {
			return nil, err
		}
	}
	for i, b := range slices.Backward(dropped) {
		if len(changes) == mostPlanned {
			return append(changes, Change{What: message.T("Other objects of an earlier landing"), New: message.F("%d, removed where that is safe", i+1)}), nil
		}
		becomes := message.T("removed: the site config no longer lists it")
		if at := slices.IndexFunc(staying, func(k manifests.Kept) bool { return k.Brought == b }); at >= 0 {
			becomes = message.F("stays, although the site config no longer lists it: %s", staying[at].Why)
		} else if !running {
			becomes = message.T("removed where that is safe: the site config no longer lists it")
		}
		changes = append(changes, Change{What: message.Data(b.String()), Old: message.T("of an earlier landing"), New: becomes})
	}
	return changes, nil
}

// drop removes what the site config no longer lists, and tells what stays.
func drop(ctx context.Context, c *kube.Cluster, in *manifests.Inventory, objects []manifests.Object, report Report) error {
	dropped := len(in.Dropped(objects))
	if dropped == 0 {
		return nil
	}
	kept, err := manifests.Remove(ctx, c, in, objects, func(_ kube.Ref, original []byte) error {
		removed := removedIn(report)
		_, next, err := removed.all()
		if err != nil {
			return err
		}
		return report.Save(removed.key(next), original)
	})
	if err != nil {
		return err
	}
	k := check.Check{
		ID: "manifests-dropped", Title: message.T("Objects that the site config no longer lists"), Status: check.Pass, Observed: message.F("%d of %d are removed", dropped-len(kept), dropped),
		Expected: message.T("all are removed"), Source: message.Data(layout.SiteObjects),
	}
	if len(kept) > 0 {
		var why []message.Text
		for _, o := range kept {
			why = append(why, message.F("%s (%s)", o.Brought, o.Why))
		}
		k.Status, k.Observed = check.Warn, message.F("%d of %d are removed; in the cluster are still: %s", dropped-len(kept), dropped, message.Join(why, ", "))
		k.Fix = message.T("Remove them by hand when nobody needs what they hold.")
	}
	report.Check(k)
	return nil
}

// removedIn are the objects that were removed, as they were.
func removedIn(report Report) series { return series{report, "removed"} }

// readInventory is what earlier landings brought; nothing where its file is damaged, so that what they brought stays.
func readInventory(node *backend.Node) (in *manifests.Inventory, text []byte) {
	if !node.Host.Exists(layout.SiteObjects) {
		return &manifests.Inventory{}, nil
	}
	text, err := node.Host.ReadFile(layout.SiteObjects)
	if err == nil {
		in, err = manifests.ParseInventory(text)
	}
	if err != nil {
		node.Log.Warn("what earlier landings brought cannot be read, and stays", "error", err)
		return &manifests.Inventory{}, nil
	}
	return in, text
}

// inventoryOf is what earlier landings brought, with a way to keep what this one does. What was there is saved first.
func inventoryOf(node *backend.Node, report Report) (*manifests.Inventory, error) {
	in, text := readInventory(node)
	if err := report.Save("inventory", text); err != nil {
		return nil, err
	}
	in.Keep = func(text []byte) error { return writeBrought(node, layout.SiteObjects, text) }
	return in, nil
}

// writeBrought writes what landings brought, as JSON, for later ones; there is no file where nothing is in it.
func writeBrought(node *backend.Node, file string, text []byte) error {
	if !slices.Contains([]string{"", "[]", "{}", "null"}, string(text)) {
		return node.Host.WriteFile(file, text, 0o600)
	}
	if !node.Host.Exists(file) {
		return nil
	}
	return node.Host.Remove(file)
}

// restoreInventory puts the inventory back that was there before this job.
func restoreInventory(node *backend.Node, report Report) error {
	text, ok, err := savedAt(report, "inventory")
	if err != nil || !ok {
		return err
	}
	return writeBrought(node, layout.SiteObjects, text)
}
