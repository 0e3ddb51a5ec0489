package images

import (
	"context"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/images/auth"
	"touchdown/backend/images/remote"
	"touchdown/backend/images/wanted"
)

// weighTime is how long registries may take to tell sizes: they serve the progress, and nothing waits for them longer.
const weighTime = 20 * time.Second

// Listing says how the list of what the node needs is made.
type Listing struct {
	Payload bool  // want every image of the release, not only what is used of it
	Offline bool  // do not ask the registries for the sizes of what is missing
	Away    error // why there is no cluster to ask
}

// Wanted lists what the node needs. A source that cannot be read is told in the list.
func (n *Node) Wanted(ctx context.Context, how Listing) (*Wanted, error) {
	p := wanted.Place{Host: n.host, Kube: n.kube, Away: how.Away, Runtime: n.cri}
	files := wanted.InStores(n.host.Path(Primary), n.host.Path(Store))
	list, err := wanted.List(ctx, p, wanted.Options{Payload: how.Payload, File: files})
	if err != nil || list.Summary.Missing == 0 || how.Offline {
		return list, err
	}
	weigh(ctx, n.host, list)
	return list, nil
}

// weigh asks the registries for sizes. What keeps it from that is told in the list, and no fault of it.
func weigh(ctx context.Context, m *host.Machine, list *Wanted) {
	logins, err := auth.Read(m)
	if err != nil {
		list.Fail("sizes", err)
	}
	registries, err := remote.New(m, logins)
	if err != nil {
		list.Fail("sizes", err)
	}
	ctx, cancel := context.WithTimeout(ctx, weighTime)
	defer cancel()
	list.Weigh(ctx, registries)
}

// needs is what of a list has to be there when the node starts: all but what nobody runs.
func needs(list *Wanted) []Need {
	var all []Need
	for _, i := range list.Images {
		if i.Spare() {
			continue
		}
		var by []string
		for _, n := range i.Needers {
			by = append(by, n.Who)
		}
		for _, name := range i.Names {
			all = append(all, Need{Image: name, By: by, Critical: i.BootCritical})
		}
	}
	return all
}
