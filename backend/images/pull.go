package images

import (
	"context"
	"fmt"
	"slices"

	"touchdown/backend/host"
	"touchdown/backend/images/auth"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/ref"
	"touchdown/backend/images/store"
	"touchdown/backend/message"
	"touchdown/backend/progress"
)

// pull fetches images into CRI-O's own store, with the node's credentials.
type pull struct {
	host *host.Machine
	cri  *cri.Client
	tell func(progress.Progress)
}

// run pulls what is wanted. What failed is in the outcomes; the error says that it was ended early, or could not begin.
func (p pull) run(ctx context.Context, wants []cri.Want) ([]cri.Outcome, error) {
	logins, err := auth.Read(p.host)
	if err != nil {
		return nil, fmt.Errorf("reading the registry credentials: %w", err)
	}
	have := fetched(ctx, p.host)
	for n := range wants {
		wants[n].Blobs = without(wants[n].Blobs, have)
	}
	outcomes, err := cri.Pull{
		Client: p.cri, Logins: logins, Tell: func(now cri.Pulled) { p.tell(pulling(now)) },
		Used: func() (int64, error) {
			free, total, err := p.host.Space(Primary)
			return total - free, err
		},
	}.Run(ctx, wants)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("pulling images: %w", context.Cause(ctx))
	}
	_ = err // it counts what is missing; the outcomes say it by image
	return outcomes, nil
}

// fetched are the digests of the layers that CRI-O has, as registries name them: it takes them from its stores. What cannot be
// read is as if it were not there: then only the order of pulls is not the best one.
func fetched(ctx context.Context, m *host.Machine) map[string]bool {
	have := map[string]bool{}
	note := func(s *store.Store, err error) {
		if err != nil {
			return
		}
		for _, l := range s.Layers {
			have[l.Packed] = true
		}
	}
	note(store.Open(ctx, m.Path(Primary)))
	if p, err := layerstore.Open(m.Path(StoreDir)); err == nil {
		if now, err := p.Current(); err == nil {
			note(p.Store(ctx, now.N))
		}
	}
	return have
}

// without is what has to be fetched of blobs; nil stays nil: not known.
func without(blobs []ref.Blob, have map[string]bool) []ref.Blob {
	return slices.DeleteFunc(slices.Clone(blobs), func(b ref.Blob) bool { return have[b.Digest] })
}

func pulling(p cri.Pulled) progress.Progress {
	what := message.T("the pull of images")
	if len(p.Now) > 0 {
		what = message.F("the pull of %s", p.Now[0])
	}
	if p.Total == 0 {
		return progress.Progress{Waiting: what, Done: int64(p.Done), Total: int64(p.Images), Unit: "images", Usual: p.Left.Seconds()}
	}
	return mebibytes(what, p.Bytes, p.Total, p.Left)
}
