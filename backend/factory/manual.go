package factory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	// engineConfig is the MachineConfig of the engine and the consoles. The others change the node's network and image store.
	engineConfig = "99-master-touchdown-engine"
	// kubeletGate belongs to armed nodes, which have their units from MachineConfigs.
	kubeletGate = "/kubelet.service.d/"
	// startsEngine is for units that the Machine Config Daemon may have left disabled.
	startsEngine = "/multi-user.target.d/"
	consolesUnit = "touchdown-consoles.service"
)

// ManualInstall lays the engine and the consoles on a machine that no MachineConfig gives them to, such as a node that is being tried
// or a box of a lab, and takes them away again. Both can be repeated.
type ManualInstall struct {
	Host    *host.Machine
	Program []byte                           // what becomes /usr/local/bin/touchdown
	Say     func(format string, args ...any) // gets what is done, as it is done
	Idle    func(context.Context) error      // refuses while the engine is at work; asked before anything changes
	Cluster string                           // the kubeconfig without which the engine does not start
	Dry     bool                             // only say it
	Between time.Duration                    // tries of what systemd refuses while jobs of the same units end
}

// laid has each file and the sums (SHA-256, hex) that it may have from us: two while it is being replaced.
type laid map[string][]string

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// files are what is to lie on the machine, the program first, and the units that are enabled.
func (h *ManualInstall) files() (files []File, units []string, err error) {
	all, err := Manifests(host.DefaultOwn) // of the one without addresses
	if err != nil {
		return nil, nil, err
	}
	files = []File{{layout.Program, 0o755, h.Program}}
	for _, m := range all {
		if m.Name != engineConfig {
			continue
		}
		units = m.Units
		for _, f := range m.Files {
			if !strings.Contains(f.Path, kubeletGate) && !strings.Contains(f.Path, startsEngine) {
				files = append(files, f)
			}
		}
	}
	return files, units, nil
}

// suited refuses machines whose units come through the cluster, and those that systemd does not run.
func (h *ManualInstall) suited(files []File, through message.Text) error {
	for _, f := range files {
		if host.Managed(h.Host, f.Path) {
			return &problem.Problem{
				Code: "HND-MCFG", Summary: message.T("This node has Touchdown's units from a MachineConfig."),
				Fix: message.F("Go through the cluster, or the Machine Config Operator marks the node as degraded: %s.", through),
			}
		}
	}
	if !h.Host.Exists(rhcos.BootedBySystemd) {
		return &problem.Problem{Code: "HND-SYSD", Summary: message.T("This machine is not run by systemd."), Fix: message.T("Start `touchdown engine` by hand, and `touchdown` in another terminal.")}
	}
	return nil
}

// Install lays what is missing or old, and starts it. The consoles come last: one of them may take the line on which the
// command was typed.
func (h *ManualInstall) Install(ctx context.Context) error {
	files, units, err := h.files()
	if err != nil {
		return err
	}
	if err := h.suited(files, message.T("`touchdown factory bake` brings this version")); err != nil {
		return err
	}
	if !h.Host.Exists(h.Cluster) {
		return &problem.Problem{
			Code: "HND-LACK", Summary: message.F("OpenShift is not installed on this machine: %s is missing.", h.Cluster),
			Fix: message.T("Install OpenShift first. To only look at the wizard, `touchdown --local` needs nothing installed."),
		}
	}
	record, err := h.record()
	if err != nil {
		return err
	}
	due, err := h.due(files, record)
	if err != nil {
		return err
	}
	if len(due) > 0 && !h.Dry {
		if err := h.rests(ctx); err != nil {
			return err
		}
	}
	if err := h.lay(due, record); err != nil {
		return err
	}
	return h.start(ctx, units, len(due) > 0)
}

// due are the files that are missing or old. One that is neither ours nor what it shall be belongs to someone.
func (h *ManualInstall) due(files []File, record laid) ([]File, error) {
	var due []File
	for _, f := range files {
		have, err := h.Host.ReadFile(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			due = append(due, f)
		case err != nil:
			return nil, err
		case bytes.Equal(have, f.Data) && host.Inherits(h.Host, f.Path):
		case f.Path == layout.Program || bytes.Equal(have, f.Data) || slices.Contains(record[f.Path], sum(have)):
			due = append(due, f)
		default:
			return nil, &problem.Problem{
				Code: "HND-ELSE", Summary: message.F("%s is there already, and it is not the file that Touchdown writes.", f.Path),
				Fix: message.T("Find out whose it is; move it away, and run the same command again."),
			}
		}
	}
	return due, nil
}

// lay writes files. What they will be is on the disk before they are: a power cut leaves none that nobody remembers.
func (h *ManualInstall) lay(due []File, record laid) error {
	if len(due) == 0 {
		return nil
	}
	for _, f := range due {
		if s := sum(f.Data); !slices.Contains(record[f.Path], s) {
			record[f.Path] = append(record[f.Path], s)
		}
	}
	if err := h.keep(record); err != nil {
		return err
	}
	for _, f := range due {
		if h.Dry {
			h.Say("would lay     %s", f.Path)
			continue
		}
		if err := h.Host.WriteFile(f.Path, f.Data, f.Mode); err != nil {
			return unwritable(err)
		}
		h.Say("laid          %s", f.Path)
		record[f.Path] = []string{sum(f.Data)}
	}
	return h.keep(record)
}

// unwritable explains why a file could not be written, where that is known.
func unwritable(err error) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return &problem.Problem{
			Code: "HND-READ", Summary: message.T("A folder that Touchdown needs cannot be written to: its file system is read-only."),
			Fix: message.T("On a node of OpenShift /usr/local and /etc can be written to; on another machine mount them so, or start `touchdown engine` by hand."), Err: err,
		}
	case errors.Is(err, fs.ErrPermission):
		return problem.OnlyRoot(err)
	}
	return err
}

// start has systemd know the units and runs them; what runs already is started again where files changed.
func (h *ManualInstall) start(ctx context.Context, units []string, changed bool) error {
	did := changed
	do := func(says string, argv ...string) error {
		did = true
		if h.Dry {
			h.Say("would run     %s", strings.Join(argv, " "))
			return nil
		}
		h.Say("%s", says)
		_, err := h.Host.Run(ctx, argv...)
		return err
	}
	var errs []error
	if changed {
		errs = append(errs, do("reading       systemd reads its units", "systemctl", "daemon-reload"))
	}
	for _, u := range units {
		if !h.Host.Exists(rhcos.Units + "/multi-user.target.wants/" + u) {
			errs = append(errs, do("enabled       "+u, "systemctl", "enable", "--quiet", u))
		}
	}
	for _, u := range units {
		if u != consolesUnit && (changed || !h.active(ctx, u)) {
			errs = append(errs, do("started       "+u, "systemctl", "restart", u))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if changed || !h.active(ctx, consolesUnit) {
		if err := do("opening       the wizard on "+strings.Join(h.lines(ctx), ", "), "systemctl", "--no-block", "restart", consolesUnit); err != nil {
			return err
		}
	}
	if !did {
		h.Say("Nothing had to be changed.")
	}
	return nil
}

func (h *ManualInstall) active(ctx context.Context, unit string) bool {
	_, err := h.Host.Run(ctx, "systemctl", "is-active", "--quiet", unit)
	return err == nil
}

// lines are the lines that touchdown-line opens: those with hardware behind them.
func (h *ManualInstall) lines(ctx context.Context) []string {
	active, _ := h.Host.ReadFile("/sys/class/tty/console/active") // none where the kernel has no console
	var lines []string
	for _, line := range append([]string{"tty1", "ttyS0"}, strings.Fields(string(active))...) {
		if line == "tty0" || slices.Contains(lines, line) || !h.Host.Exists("/dev/"+line) {
			continue
		}
		if _, err := h.Host.Run(ctx, "stty", "-F", "/dev/"+line); err == nil {
			lines = append(lines, line)
		}
	}
	return lines
}

// record reads what was laid; nothing where there is no record.
func (h *ManualInstall) record() (laid, error) {
	data, err := h.Host.ReadFile(layout.Installed)
	if errors.Is(err, fs.ErrNotExist) {
		return laid{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := laid{}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, &problem.Problem{
			Code: "HND-RCRD", Summary: message.F("%s cannot be read, and it is the only record of what was installed.", layout.Installed),
			Fix: message.T("Move it away; `touchdown install` then treats files that are already correct as someone else's."), Err: err,
		}
	}
	return r, nil
}

func (h *ManualInstall) keep(r laid) error {
	if h.Dry {
		return nil
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing what was laid: %w", err)
	}
	return unwritable(h.Host.WriteFile(layout.Installed, append(data, '\n'), os.FileMode(0o600)))
}
