package wanted

import (
	"context"
	"errors"
	"slices"

	"touchdown/backend/check"
	"touchdown/backend/images/remote"
	"touchdown/backend/problem"
)

// Registry is what is asked for sizes.
type Registry interface {
	Images(ctx context.Context, names []string, each func(name string, image *remote.Image, err error))
}

// Weigh asks registries how much has to be fetched for what is missing. That nobody answers is not a fault: such images stay
// without a size. A registry that sends something else than the digest says is told as a finding.
func (r *Result) Weigh(ctx context.Context, reg Registry) {
	at := map[string]int{}
	var names []string
	for k := range r.Images {
		if i := &r.Images[k]; !i.Present && i.Need != Spare && len(i.Missing) > 0 {
			name := i.Missing[0]
			at[name] = k
			names = append(names, name)
		}
	}
	reg.Images(ctx, names, func(name string, image *remote.Image, err error) {
		i := &r.Images[at[name]]
		p, isProblem := errors.AsType[*problem.Problem](err)
		switch {
		case err == nil:
			i.Blobs, i.Download = image.Blobs, image.Size()
			if i.Digest == "" {
				i.Digest = image.Digest
			}
		case isProblem && p.Code == "PUL-DGST":
			i.Findings = append(i.Findings, Finding{Kind: "lied", Status: check.Fail, Text: p.Summary.String(), Fix: p.Fix.String()})
			slices.SortFunc(i.Findings, byKind)
		}
	})
	r.Count()
}
