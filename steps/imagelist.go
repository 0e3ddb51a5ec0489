package steps

import (
	"context"
	"fmt"
	"time"

	"touchdown/backend"
	"touchdown/backend/images"
	"touchdown/backend/message"
	"touchdown/backend/progress"
)

// wantedImages lists the images that the node needs. Right after a reboot neither the cluster nor CRI-O answers in full, so it lists them again
// until both do, for as long as any step waits for an API that is away. What was not read even then is told in the list.
func wantedImages(ctx context.Context, node *backend.Node, here *images.Node, how images.Listing, report Report) (*images.Wanted, error) {
	report.Progress(progress.Progress{Waiting: message.T("the list of images that the node needs")})
	for start := time.Now(); ; {
		list, err := here.Wanted(ctx, how)
		if err != nil {
			return nil, fmt.Errorf("listing the images: %w", err)
		}
		away := list.Away()
		if len(away) == 0 || time.Since(start) >= node.Kube.Pace.Limit {
			return list, nil
		}
		report.Progress(progress.Progress{Waiting: message.F("the list of images that the node needs; not read yet: %s", away[0].Source)})
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(node.Kube.Pace.Poll):
		}
	}
}
