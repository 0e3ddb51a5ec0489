package steps_test

import (
	"context"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/hardware/order"
	"touchdown/backend/health"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/bench"
)

// notes is a Report that only remembers.
type notes struct {
	checks   map[string]check.Check
	said     []string
	progress []progress.Progress
	job      report.Job
}

func (n *notes) Progress(p progress.Progress) { n.progress = append(n.progress, p) }

func (n *notes) Check(c check.Check) {
	if n.checks == nil {
		n.checks = map[string]check.Check{}
	}
	n.checks[c.ID] = c
}

func (n *notes) Say(text message.Text)                             { n.said = append(n.said, text.String()) }
func (*notes) Ask(context.Context, steps.Question) (string, error) { return "", nil }
func (*notes) Save(string, []byte) error                           { return nil }
func (*notes) Note(string, []byte) error                           { return nil }
func (*notes) Noted(string) ([]byte, error)                        { return nil, fs.ErrNotExist }
func (*notes) Saved(string) ([]byte, error)                        { return nil, fs.ErrNotExist }
func (n *notes) Job() report.Job                                   { return n.job }
func (*notes) Suggest(_, _, _ string)                              {}
func (*notes) Offer(string, []steps.Choice)                        {}
func node(m *hosttest.Fake, cluster *kube.Cluster) *backend.Node {
	return &backend.Node{Host: m.Machine, Kube: cluster, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
}

func TestHardwareTellsItsChecksTwiceAlike(t *testing.T) {
	m := hosttest.New(t)
	m.File("/proc/meminfo", "MemTotal:        8000000 kB\n")
	h := &steps.Hardware{}
	first, second := &notes{}, &notes{}
	if err := h.Inspect(t.Context(), node(m, nil), first); err != nil {
		t.Fatal(err)
	}
	if err := h.Run(t.Context(), node(m, nil), second); err != nil {
		t.Fatal(err)
	}
	if c := second.checks["hw-memory"]; c.Status != check.Fail {
		t.Errorf("8 GB of memory are %s", c.Status)
	}
	if len(first.checks) == 0 || len(first.checks) != len(second.checks) {
		t.Errorf("%d checks at the inspection, %d at the run", len(first.checks), len(second.checks))
	}
	for _, call := range m.Calls() {
		if call != "systemd-detect-virt" {
			t.Errorf("the machine was touched: %s", call)
		}
	}
}

// A node that arrives without a part fails the hardware check at its site, before the review too; the bench line, where nodes are
// repaired, compares with nothing.
func TestHardwareComparesWithWhatWasShipped(t *testing.T) {
	m := hosttest.New(t)
	m.File("/sys/class/dmi/id/board_serial", "B-2\n")
	seal := hardware.Inspect(t.Context(), m.Machine, hardware.Options{Parts: true})
	seal.Board.Serial = "B-1"
	if err := hardware.SaveShipped(m.Machine, seal); err != nil {
		t.Fatal(err)
	}
	found := func(h *steps.Hardware) (told []check.Check) {
		seen := &notes{}
		if err := h.Inspect(t.Context(), node(m, nil), seen); err != nil {
			t.Fatal(err)
		}
		for id, c := range seen.checks {
			if strings.Contains(id, "shipped") && id != "hw-shipped-unread" {
				told = append(told, c)
			}
		}
		return told
	}
	if told := found(&steps.Hardware{Site: site.New()}); len(told) != 1 || told[0].Status != check.Fail || told[0].Observed.String() != "The serial number of the board was B-1 and is B-2 now" {
		t.Errorf("at the site: %+v", told)
	}
	if told := found(&steps.Hardware{Factory: true}); len(told) != 0 {
		t.Errorf("on the bench line: %+v", told)
	}
}

// The bench line judges by the order sheet that it was given; a site does not; one that is spoilt is told.
func TestHardwareJudgesByTheOrder(t *testing.T) {
	m := hosttest.New(t)
	m.File("/sys/class/dmi/id/product_serial", "SN-9\n")
	m.File("/sys/class/dmi/id/product_name", "Edge\n")
	look := func(h *steps.Hardware) map[string]check.Check {
		seen := &notes{}
		if err := h.Inspect(t.Context(), node(m, nil), seen); err != nil {
			t.Fatal(err)
		}
		return seen.checks
	}
	sheet, err := order.Parse([]byte("apiVersion: touchdown.dev/v1alpha1\nkind: OrderSheet\nname: A\nserials: [SN-1]\n"), "A")
	if err != nil {
		t.Fatal(err)
	}
	if err := sheet.Keep(m.Machine); err != nil {
		t.Fatal(err)
	}
	if c := look(&steps.Hardware{Factory: true})["order-serial"]; c.Status != check.Fail || c.Observed.String() != "SN-9" {
		t.Errorf("on the bench line: %+v", c)
	}
	if c, told := look(&steps.Hardware{Site: site.New()})["order-serial"]; told {
		t.Errorf("at a site: %+v", c)
	}
	m.File(layout.Order, "{")
	if c := look(&steps.Hardware{Factory: true})["order-sheet"]; c.Status != check.Fail || c.Fix.String() == "" {
		t.Errorf("spoilt: %+v", c)
	}
}

// A site looks where the cables go that the kept order sheet names; the bench line, where other cables are plugged in, does not.
func TestHardwareLooksAtTheCables(t *testing.T) {
	m := hosttest.New(t)
	sheet, err := order.Parse([]byte("apiVersion: touchdown.dev/v1alpha1\nkind: OrderSheet\nname: A\nports: [{nic: eno1, switch: sw-7}]\n"), "A")
	if err != nil {
		t.Fatal(err)
	}
	if err := sheet.Keep(m.Machine); err != nil {
		t.Fatal(err)
	}
	look := func(h *steps.Hardware) map[string]check.Check {
		seen := &notes{}
		if err := h.Inspect(t.Context(), node(m, nil), seen); err != nil {
			t.Fatal(err)
		}
		return seen.checks
	}
	network := steps.NewNodeNetwork(node(m, nil))
	if c := look(&steps.Hardware{Site: site.New(), NodeNet: network})["wiring-eno1"]; c.Status != check.Fail || c.Observed.String() != "the machine has no network port eno1" || c.Expected.String() != "switch sw-7" {
		t.Errorf("at a site: %+v", c)
	}
	if c, told := look(&steps.Hardware{Factory: true})["wiring-eno1"]; told {
		t.Errorf("on the bench line: %+v", c)
	}
	m.File("/sys/bus/pci/devices/0000:60:00.0/class", "0x020000\n")
	if c := look(&steps.Hardware{Site: site.New(), NodeNet: network})["wiring-eno1"]; c.Status != check.Skip {
		t.Errorf("a pod may have the port: %+v", c)
	}
	m.File(layout.Order, "{")
	if c := look(&steps.Hardware{Site: site.New(), NodeNet: network})["order-sheet"]; c.Status != check.Skip {
		t.Errorf("a spoilt sheet stops a site: %+v", c)
	}
}

// Work that goes on right after a boot is there before the ports have their link.
func TestHardwareWaitsForALink(t *testing.T) {
	m := hosttest.New(t)
	m.File("/sys/class/net/eno1/device/vendor", "0x8086\n")
	m.File("/sys/class/net/eno1/address", "52:54:00:00:00:01\n")
	m.File("/sys/class/net/eno1/addr_assign_type", "0\n")
	m.File("/sys/class/net/eno1/carrier", "0\n")
	time.AfterFunc(300*time.Millisecond, func() { m.File("/sys/class/net/eno1/carrier", "1\n") })
	seen := &notes{}
	if err := (&steps.Hardware{}).Run(t.Context(), node(m, nil), seen); err != nil {
		t.Fatal(err)
	}
	if c := seen.checks["hw-link"]; c.Status != check.Pass {
		t.Errorf("a link that comes up later: %+v", c)
	}
}

// The cluster did not move, its own requests wait: a person takes responsibility, then the report is written, twice.
func TestHealthAndHandOverOnARealAPI(t *testing.T) {
	b := bench.Start(t, bench.Options{})
	cluster, err := kube.Open(b.Kubeconfig, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := hosttest.New(t)
	cfg := site.New()
	cfg.Spec.Policy.StabilityWindow = time.Second
	job := report.Job{Version: "test", Hostname: "node", Serial: "SN-1", Steps: []report.JobStep{{
		Step: report.Step{ID: "health", Title: "Verify the cluster's health", Outcome: "done", Seconds: 12},
		Checks: []check.Check{{
			ID: "csrs", Title: message.T("Certificate requests (CSRs)"), Status: check.Waived, Waiver: &check.Waiver{By: "test", Reason: "factory's"},
		}},
	}}}
	verify := &steps.Health{Site: cfg, Window: health.Window{Poll: 50 * time.Millisecond}}
	seen := &notes{job: job}
	if err := verify.Run(t.Context(), node(m, cluster), seen); err != nil {
		t.Fatal(err)
	}
	if last := seen.progress[len(seen.progress)-1]; last.Done != 1 || last.Total != 1 || !strings.Contains(last.Waiting.String(), "stay healthy") {
		t.Errorf("the last progress is %+v", last)
	}

	handOver := &steps.HandOver{Site: cfg, Dir: t.TempDir(), Reached: func(context.Context) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("198.51.100.10"), netip.MustParseAddr("2001:db8:51::10")}, nil
	}}
	var before []byte
	for range 2 {
		told := &notes{job: job}
		if err := handOver.Run(t.Context(), node(m, cluster), told); err != nil {
			t.Fatal(err)
		}
		if c := told.checks[check.SiteAddress]; c.Status != check.Pass || !strings.HasPrefix(c.Observed.String(), "198.51.100.10") {
			t.Errorf("the consoles are told %+v", told.checks)
		}
		text, err := os.ReadFile(filepath.Join(handOver.Dir, report.TextFile))
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && string(before) != string(text) {
			t.Errorf("the second run wrote another report")
		}
		before = text
	}
	d, err := (report.Folder{Dir: handOver.Dir}).Open()
	if err != nil {
		t.Fatal(err)
	}
	if d.Cluster.ID == "" || d.Cluster.NewDomain != b.Domain || len(d.DNS) != 3 || d.DNS[0].Value != "198.51.100.10" || len(d.Certificates) != 2 || d.URLs.Console == "" || d.APIWrites != 0 {
		t.Errorf("the report lacks facts:\n%s", before)
	}
	t.Logf("the report:\n%s", before)
}
