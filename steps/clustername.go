package steps

import (
	"context"
	"time"

	"touchdown/backend"
	"touchdown/backend/domain"
	"touchdown/backend/factory"
	"touchdown/backend/kubelet"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// formTimeout is how long to wait for an API that may not run yet, while a person looks at a form.
const formTimeout = 500 * time.Millisecond

// called is what the cluster is called: by its API, or while that is held back since the factory, as the factory noted it.
// The record knows of nothing that happened since, so it is not asked once the cluster was let run.
func called(ctx context.Context, node *backend.Node) (now domain.Now, noted bool, err error) {
	now, err = domain.Read(ctx, node.Kube.Within(formTimeout))
	if err == nil || !kubelet.Gated(node.Host) {
		return now, false, err
	}
	record, bad := factory.LoadRecord(node.Host)
	if d := record.Domain; bad == nil && d != "" {
		return domain.Now{Factory: d, Domain: d, OldApps: domain.Apps(d)}, true, nil
	}
	return now, false, err
}

// noNames is why the steps of the names do not apply: none is asked for.
func noNames(cfg *site.Config) message.Text {
	if cfg.Domain() == "" {
		return message.T("no new name is asked for")
	}
	return message.Text{}
}
