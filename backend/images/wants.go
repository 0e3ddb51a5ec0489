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

// Wanted lists what the node needs. Sizes of what is missing are asked of the registries, unless offline. A source that
// cannot be read is told in the result.
func Wanted(ctx context.Context, p wanted.Place, payload, offline bool) (*wanted.Result, error) {
	files := wanted.InStores(p.Host.Path(Primary), p.Host.Path(Store))
	list, err := wanted.List(ctx, p, wanted.Options{Payload: payload, File: files})
	if err != nil || list.Summary.Missing == 0 || offline {
		return list, err
	}
	weigh(ctx, p.Host, list)
	return list, nil
}

// weigh asks the registries for sizes. What keeps it from that is told in the list, and no fault of it.
func weigh(ctx context.Context, m *host.Machine, list *wanted.Result) {
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

// Needs is what of a list has to be there when the node starts: all but what nobody runs.
func Needs(list *wanted.Result) []Need {
	var all []Need
	for _, i := range list.Images {
		if i.Need == wanted.Spare {
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
