// Package kubelet starts and stops what runs the node's pods, and waits for the cluster's API that comes with it.
package kubelet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	service = "kubelet.service"
	runtime = "crio.service"
	crictl  = "/usr/bin/crictl"
	scopes  = "crio-*.scope" // a unit of systemd for each container and its monitor
)

// Gated tells whether the kubelet is kept from starting.
func Gated(m *host.Machine) bool { return m.Exists(layout.Armed) }

// Active tells whether the kubelet runs; a kubelet without a Node is active too.
func Active(ctx context.Context, m *host.Machine) bool {
	_, err := m.Run(ctx, "systemctl", "is-active", "--quiet", service)
	return err == nil
}

// Release takes the gate away and starts CRI-O and the kubelet. A power cut leaves the gate or takes it, nothing between: with
// it this is done again, without it the next boot starts the kubelet automatically.
func Release(ctx context.Context, m *host.Machine) error {
	if err := room(m); err != nil { // a kubelet that has seen a full disk says so for five minutes more
		return err
	}
	if err := m.Remove(layout.Armed); err != nil {
		return fmt.Errorf("opening the kubelet's gate: %w", err)
	}
	// A start that was refused too often while the gate was there would be refused once more. Units that never failed are not
	// an error worth telling.
	_, _ = m.Run(ctx, "systemctl", "reset-failed", service, runtime)
	for _, unit := range []string{runtime, service} {
		if _, err := m.Run(ctx, "systemctl", "start", unit); err != nil {
			return &problem.Problem{
				Code: "KBL-STRT", Summary: message.F("The node's service %s does not start.", strings.TrimSuffix(unit, ".service")),
				Fix: message.T("Retry; if it fails again, look at its log in the support bundle."), Err: err,
			}
		}
	}
	return nil
}

// Hold puts the gate back, stops the kubelet and then every container, so that the node is what left the factory: the cluster on
// the disk, and nothing of it running.
func Hold(ctx context.Context, m *host.Machine) error {
	if err := m.WriteFile(layout.Armed, nil, 0o600); err != nil {
		return fmt.Errorf("closing the kubelet's gate: %w", err)
	}
	return Stop(ctx, m)
}

// Stop stops the kubelet and every container. CRI-O goes on: containers stop more gently with it.
func Stop(ctx context.Context, m *host.Machine) error {
	if _, err := m.Run(ctx, "systemctl", "stop", service); err != nil {
		return &problem.Problem{
			Code: "KBL-HALT", Summary: message.T("The kubelet does not stop."), Fix: message.T("Retry, or reboot the node."), Err: err,
		}
	}
	if err := stopPods(ctx, m); err != nil {
		return &problem.Problem{
			Code: "KBL-PDS", Summary: message.T("The node's containers do not stop."), Fix: message.T("Retry, or reboot the node."), Err: err,
		}
	}
	return nil
}

// stuck is how long the containers that are left may stay the same ones. Each that ends is progress, so a busy node gets as long as it needs;
// crictl itself waits for the usual end of each.
const stuck = 2 * time.Minute

// stopPods looks again after it: CRI-O finishes a start that the kubelet asked for just before it was stopped.
func stopPods(ctx context.Context, m *host.Machine) error {
	argv := []string{"systemctl", "stop", scopes} // a node without CRI-O's tool still has a scope for each container
	if m.Exists(crictl) {
		argv = []string{crictl, "rmp", "--force", "--all"}
	}
	left, since := "", time.Now()
	for time.Since(since) < stuck {
		if _, err := m.Run(ctx, argv...); err != nil {
			return err
		}
		now, err := m.Run(ctx, "systemctl", "list-units", "--plain", "--no-legend", "--state=active", scopes)
		if now = strings.TrimSpace(now); err != nil || now == "" {
			return err
		}
		if now != left {
			left, since = now, time.Now()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopping the containers: %w", context.Cause(ctx))
		case <-time.After(500 * time.Millisecond):
		}
	}
	return fmt.Errorf("still there: %s", left)
}

// Await waits until the API answers, and tells what of it is missing meanwhile. limit must leave room for a control plane whose
// certificates have expired: it renews them first, which takes up to 10 minutes.
func Await(ctx context.Context, m *host.Machine, c *kube.Cluster, limit time.Duration) error {
	w := kube.Wait{What: message.T("the start of the cluster's API"), Limit: limit, Usual: 3 * time.Minute, Code: "KAS-LATE"}
	// What the problem names is looked for only when it is one.
	w.Fix = message.T("Retry to go on waiting; the log of the API server is in the support bundle.")
	last := ""
	first := starts(m)
	err := c.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		missing, err := waiting(ctx, m, c, starts(m)-first)
		last = missing.String()
		return kube.Progress{Waiting: missing}, missing.String() == "" && err == nil, err
	})
	if p := problem.From(err); err != nil && p.Code == "KAS-LATE" {
		if line := Complaint(m); line != "" {
			p.Summary = message.T("The cluster's API does not start: its server ends with an error.")
			p.Fix = message.T("Undo brings the factory's state back; give the error below to support.")
			p.Err = fmt.Errorf("waiting for %s; the API server says: %s", last, line)
		}
	}
	return err
}

// needs is how many bytes the cluster's database wants to begin with: etcd reserves its log 64 MB at a time.
const needs = 64 << 20

// room tells of a disk on which the API cannot start, so that nobody waits for it.
func room(m *host.Machine) error {
	free, err := m.Free("/var")
	if err != nil || free >= needs {
		return nil //nolint:nilerr // a disk that does not tell is no reason to stop
	}
	return &problem.Problem{
		Code:    "DSK-FULL",
		Summary: message.F("The disk is full: %d MB are left on /var, and the cluster's database needs %d to start.", free>>20, needs>>20),
		Fix:     message.T("Free some space on /var, then retry."),
	}
}

// crashLoop is how many restarts of a server count as a crash loop: one or two are normal while it waits for etcd.
const crashLoop = 3

// waiting names the first thing in the way of the API, whose server was restarted that often meanwhile.
func waiting(ctx context.Context, m *host.Machine, c *kube.Cluster, restarts int) (message.Text, error) {
	if err := ctx.Err(); err != nil {
		return message.Text{}, fmt.Errorf("waiting for the API: %w", context.Cause(ctx))
	}
	ready, why := c.Ready(ctx)
	if ready {
		return message.Text{}, nil
	}
	if err := room(m); err != nil {
		return message.Text{}, err
	}
	if err := Damage(m); err != nil {
		return message.Text{}, err
	}
	if host.HasKubelet(m) && !Active(ctx, m) {
		return message.T("the kubelet, which does not run"), nil
	}
	if line := Complaint(m); restarts >= crashLoop && line != "" {
		return message.F("the cluster's API, whose server ended %d times: %s", restarts, line), nil
	}
	return message.F("the cluster's API: %s", why), nil
}
