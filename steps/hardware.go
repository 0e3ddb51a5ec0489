package steps

import (
	"context"
	"time"

	"touchdown/backend"
	"touchdown/backend/hardware"
)

// Hardware checks that the machine is what OpenShift needs. It changes nothing.
type Hardware struct {
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
func (*Hardware) Title() string { return "Check the hardware" }

// Fields implements Step.
func (*Hardware) Fields() []Field { return nil }

// Inspect implements Inspector.
func (h *Hardware) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	h.look(ctx, node, report)
	return nil
}

// Run looks again. It does not return a failed check as an error: the engine fails a step of which a check failed,
// unless a person took responsibility for that check.
func (h *Hardware) Run(ctx context.Context, node *backend.Node, report Report) error {
	for _, line := range h.look(ctx, node, report).Summary() {
		report.Say("%s", line)
	}
	return ctx.Err()
}

func (h *Hardware) look(ctx context.Context, node *backend.Node, report Report) *hardware.Inventory {
	limits := h.Limits
	if limits == (hardware.Limits{}) {
		limits = hardware.For("")
	}
	i := hardware.Inspect(ctx, node.Host, hardware.Options{Now: node.Now, Floor: h.Built})
	for _, c := range hardware.Checks(i, limits) {
		report.Check(c)
	}
	return i
}
