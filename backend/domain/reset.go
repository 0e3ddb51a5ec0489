package domain

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// try is an earlier deletion of a route: the host that it had, and which object it was.
type try struct {
	host string
	uid  types.UID
}

// savedTry is what an original tells of a deletion; the zero try where it is of something else.
func savedTry(original []byte) (try, error) {
	manifest, uid, err := kube.SavedManifest(original)
	if err != nil {
		return try{}, err
	}
	spec, _ := manifest["spec"].(map[string]any)
	host, _ := spec["host"].(string)
	return try{host, uid}, nil
}

// cameBack tells whether a route was deleted and made again with the same old host. One that was saved for a deletion that
// never happened, since the power failed in between, is still the same object.
func cameBack(r Route, tries []try) bool {
	return slices.ContainsFunc(tries, func(t try) bool { return t.host == r.Host }) &&
		!slices.ContainsFunc(tries, func(t try) bool { return t.uid == r.UID })
}

// Reset deletes the routes that may be touched and sees that each comes back, with a host of the new domain. saved are
// the originals of an earlier try: a route that it deleted and did not make again is made again, one that came back
// from its operator with the old host is not deleted twice.
func Reset(ctx context.Context, c *kube.Cluster, routes []Route, saved [][]byte, save kube.Save) (reset []Route, err error) {
	tried := map[kube.Ref][]try{} // also by a move to another domain
	for _, original := range saved {
		ref, err := kube.SavedRef(original)
		if err != nil {
			return nil, err
		}
		last, err := savedTry(original)
		if err != nil {
			return nil, err
		}
		tried[ref] = append(tried[ref], last)
		if err := comeBack(ctx, c, ref, original); err != nil {
			return nil, err
		}
	}
	var deleted [][]byte // in the order of reset; nil for what came back at once
	for _, r := range routes {
		if r.Kind != Owned && r.Kind != Generated || cameBack(r, tried[r.ref()]) {
			continue
		}
		var original []byte
		if _, err := c.Delete(ctx, r.ref(), func(ref kube.Ref, b []byte) error { original = b; return save(ref, b) }); err != nil {
			return reset, err
		}
		if original == nil { // gone before we came
			continue
		}
		reset = append(reset, r)
		if r.Kind == Generated {
			if err := c.Recreate(ctx, original, withoutHost); err != nil {
				return reset, err
			}
			original = nil
		}
		deleted = append(deleted, original)
	}
	// All are deleted before the wait for the first begins, so that their operators work side by side.
	for i, original := range deleted {
		if original == nil {
			continue
		}
		if err := comeBack(ctx, c, reset[i].ref(), original); err != nil {
			return reset, err
		}
	}
	return reset, nil
}

// Hosts waits until each of the routes has a host again, and returns those whose operator gave them another than one below
// the domain's apps.
func Hosts(ctx context.Context, c *kube.Cluster, now Now, domain string, reset []Route) (kept []Route, err error) {
	w := kube.Wait{
		What: message.T("giving the applications their addresses"), Limit: c.Pace.Limit, Usual: 10 * time.Second, Code: "RTE-HST",
		Fix: message.T("Look at the operator openshift-apiserver, then retry."),
	}
	err = c.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		all, err := Routes(ctx, c, now, domain)
		p := kube.Progress{Total: int64(len(reset)), Unit: "applications"}
		kept = kept[:0]
		for _, r := range reset {
			i := slices.IndexFunc(all, func(a Route) bool { return a.ref() == r.ref() })
			switch {
			case i < 0 || all[i].Host == "":
				p.Waiting = message.F("an address for %s/%s", r.Namespace, r.Name)
				continue
			case all[i].Kind != Fine:
				kept = append(kept, all[i])
			}
			p.Done++
		}
		return p, p.Done == p.Total, err
	})
	return kept, err
}

// looks is how often an operator's route is looked for before we make it ourselves; operators answer at once or not at all.
const looks = 10

// comeBack waits for an operator to make its route again, and else makes it: a route in a namespace of the cluster need
// not have an operator behind it.
func comeBack(ctx context.Context, c *kube.Cluster, ref kube.Ref, original []byte) error {
	seen, there := 0, false
	w := kube.Wait{What: message.F("making the route %s again", ref.Name), Limit: c.Pace.Limit, Code: "RTE-GNE", Fix: message.T("Retry.")}
	err := c.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		seen++
		err := c.Do(ctx, "looking for "+ref.String(), func(ctx context.Context) error {
			list, err := c.Route.Routes(ref.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + ref.Name})
			there = err == nil && len(list.Items) > 0
			return err
		})
		return kube.Progress{Waiting: message.F("the operator of %s to make its route again", ref.Namespace)}, there || seen >= looks, err
	})
	if err != nil || there {
		return err
	}
	return c.Recreate(ctx, original, withoutHost)
}

// withoutHost lets the cluster choose the host.
func withoutHost(object map[string]any) {
	if spec, ok := object["spec"].(map[string]any); ok {
		delete(spec, "host")
	}
	meta, _ := object["metadata"].(map[string]any)
	if annotations, ok := meta["annotations"].(map[string]any); ok {
		delete(annotations, generated)
	}
}
