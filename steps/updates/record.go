package updates

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/event"
)

// unit is the service in which systemd runs the command: it outlives the engine that asked for it.
const unit = "touchdown-update"

// longest ends a command that hangs, which would refuse reboot and power off without end, in seconds: three files of a slow stick at 3
// minutes each, and a trial of 15.
const longest = "1800"

// Record is an update that a console or an order asked for. It ends with the boot: a power cut ends the update, too, and the next engine runs the
// program that the node has.
type Record struct {
	Offer
	Stick string    `json:"stick,omitempty"` // which one it was; put in again, it is another one
	Ended time.Time `json:"ended,omitzero"`
	Told  bool      `json:"told,omitempty"` // the events have how it ended, which they have where an order began it
}

// Start notes the update, and has systemd run the command for the release on a stick that a person was shown.
func Start(ctx context.Context, m *host.Machine, o Offer, stick string) error {
	o.State = Reads
	if err := write(m, &Record{Offer: o, Stick: stick}); err != nil {
		return err
	}
	_, err := m.Run(ctx, "systemd-run", "--quiet", "--collect", "--unit="+unit, "--property=RuntimeMaxSec="+longest,
		"--description=Touchdown takes the release on a stick", layout.Program, "update", "--from-stick="+o.Device, "--sha256="+o.Program)
	if err != nil {
		return errors.Join(fmt.Errorf("starting the update: %w", err), Forget(m))
	}
	return nil
}

// cut is the code of an update whose command is gone without a word. The engine's word for it gives way to the command's own.
const cut = "UPD-CUT"

// End notes how the update to a program ended, where that is the one that was started last.
func End(m *host.Machine, program string, failed error, now time.Time) error {
	r := Last(m)
	if r == nil || r.Program != program || !r.Runs() && (r.Problem == nil || r.Problem.Code != cut) {
		return nil
	}
	r.State, r.Ended, r.Problem = Done, now, nil
	if failed != nil {
		r.State, r.Problem = Failed, event.TroubleOf(failed)
	}
	return write(m, r)
}

// Last is the update that was started last in this boot; nil for none.
func Last(m *host.Machine) *Record {
	data, err := m.ReadFile(layout.UpdateRecord)
	if err != nil {
		return nil
	}
	r := &Record{}
	if message.Unmarshal(data, r) != nil || r.Program == "" {
		return nil
	}
	if r.State == Reads && m.Exists(layout.TrialDropIn) {
		r.State = Tries
	}
	return r
}

// Gone tells whether systemd says that the command of an update is not at work. A look that fails in another way tells nothing: whoever
// stops the engine ends the commands that it runs, too.
func Gone(ctx context.Context, m *host.Machine) bool {
	said, err := m.Run(ctx, "systemctl", "is-active", unit+".service")
	exit, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err)
	return ok && slices.Contains([]int{3, 4}, exit.ExitCode()) && slices.Contains([]string{"inactive", "failed", "unknown"}, strings.TrimSpace(said))
}

// Cut notes the end of an update whose command is gone without a word (UPD-CUT), and returns what is on record then.
func Cut(m *host.Machine, r *Record, now time.Time) *Record {
	if err := End(m, r.Program, &problem.Problem{
		Code: cut, Summary: message.T("The update of Touchdown was stopped in the middle. Within 15 minutes systemd starts the engine of the program that the node has."),
		Fix: message.T("Look at `journalctl -u touchdown-update`. Put the stick in again to be asked again."),
	}, now); err != nil {
		return r
	}
	return Last(m)
}

// Tell notes that the events have how an update ended.
func Tell(m *host.Machine, r *Record) error {
	told := *r
	told.Told = true
	return write(m, &told)
}

// Forget takes the record away: a person has read it.
func Forget(m *host.Machine) error {
	if err := m.Remove(layout.UpdateRecord); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting the update: %w", err)
	}
	return nil
}

func write(m *host.Machine, r *Record) error {
	data, err := message.Marshal(r)
	if err != nil {
		return err
	}
	return m.WriteFile(layout.UpdateRecord, data, 0o600)
}
