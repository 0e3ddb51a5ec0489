package steps

import (
	"context"
	"slices"
	"time"

	"touchdown/backend/message"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/steps/site"
)

// Hardware checks that the machine is what OpenShift needs. It changes nothing.
type Hardware struct {
	Site   *site.Config    // says when consoles lock; nil: that is not looked at
	Limits hardware.Limits // what the machine is judged by; zero: the limits of supported OpenShift versions
	Built  time.Time       // when this program was built: no clock can be earlier; zero: not known
}

var (
	_ Step      = (*Hardware)(nil)
	_ Inspector = (*Hardware)(nil)
)

// ID implements Step.
func (*Hardware) ID() string { return "hardware" }

// Title implements Step.
func (*Hardware) Title() message.Text { return message.T("Check the hardware") }

// Reads implements Reader.
func (h *Hardware) Reads() []string {
	if h.Site == nil {
		return nil
	}
	return []string{pinPath, "spec.console.lockAfter"}
}

// Inspect implements Inspector.
func (h *Hardware) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	_, checks := h.inspect(ctx, node)
	for _, c := range checks {
		report.Check(c)
	}
	return nil
}

// Run looks again. It does not return a failed check as an error: the engine fails a step of which a check failed,
// unless a person took responsibility for that check.
func (h *Hardware) Run(ctx context.Context, node *backend.Node, report Report) error {
	i, checks := h.waitForLink(ctx, node, report)
	for _, c := range checks {
		report.Check(c)
	}
	for _, line := range i.Summary() {
		report.Say(message.Data(line))
	}
	return ctx.Err()
}

// linkWait is how long a port may take until it has a link. Work that a power cut interrupted goes on at once when the
// node is up again: NetworkManager has yet to switch its ports on, and a copper port negotiates for seconds after that.
const linkWait = 20 * time.Second

// waitForLink looks until a port has a link, or should have one.
func (h *Hardware) waitForLink(ctx context.Context, node *backend.Node, report Report) (*hardware.Inventory, []Check) {
	i, checks := h.inspect(ctx, node)
	limit := time.After(linkWait)
	for slices.ContainsFunc(checks, noLink) {
		report.Progress(Progress{Waiting: message.T("a link on a network port"), Usual: 5})
		select {
		case <-ctx.Done():
			return i, checks
		case <-limit:
			return i, checks
		case <-time.After(time.Second):
			i, checks = h.inspect(ctx, node)
		}
	}
	return i, checks
}

func noLink(c Check) bool { return c.ID == hardware.LinkCheck && c.Status == check.Fail }

func (h *Hardware) inspect(ctx context.Context, node *backend.Node) (*hardware.Inventory, []Check) {
	limits := h.Limits
	if limits == (hardware.Limits{}) {
		limits = hardware.For("")
	}
	i := hardware.Inspect(ctx, node.Host, hardware.Options{Now: node.Now, Floor: h.Built})
	checks := hardware.Checks(i, limits)
	if c, known := hardware.Shipped(node.Host, i); known {
		checks = append(checks, c)
	}
	if h.Site != nil {
		checks = append(checks, lockCheck(h.Site, node))
	}
	return i, checks
}
