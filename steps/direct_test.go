package steps_test

import (
	"context"
	"path/filepath"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps"
)

// direct is a Report that keeps originals and notes in a folder of a machine.
type direct struct {
	host *host.Machine
	dir  string // one folder below it for each step
	step string
}

var _ steps.Report = (*direct)(nil)

// of is the report of a step.
func (d *direct) of(s steps.Step) *direct {
	d.step = s.ID()
	return d
}

func (*direct) Progress(progress.Progress) {}
func (*direct) Check(check.Check)          {}
func (*direct) Say(message.Text)           {}

// Ask takes the default: nobody is there.
func (*direct) Ask(_ context.Context, q steps.Question) (string, error) { return q.Default, nil }

// Save keeps an original; the first one wins.
func (d *direct) Save(key string, original []byte) error {
	if d.host.Exists(d.file(key)) {
		return nil
	}
	return d.host.WriteFile(d.file(key), original, 0o600)
}

// Saved returns what Save kept.
func (d *direct) Saved(key string) ([]byte, error) { return d.host.ReadFile(d.file(key)) }

// Note keeps a note; the last one holds.
func (d *direct) Note(key string, value []byte) error {
	return d.host.WriteFile(d.file("note-"+key), value, 0o600)
}

// Noted returns what Note kept.
func (d *direct) Noted(key string) ([]byte, error) { return d.host.ReadFile(d.file("note-" + key)) }

func (d *direct) file(key string) string { return filepath.Join(d.dir, d.step, key) }

// forget removes what a step saved, once it is put back.
func (d *direct) forget() error {
	files, err := d.host.Glob(d.file("*"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := d.host.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

// Job tells nothing: without an engine nobody keeps what was done.
func (*direct) Job() report.Job { return report.Job{} }

// Suggest does nothing: there is no form.
func (*direct) Suggest(string, string, string) {}

// Offer does nothing: there is no form.
func (*direct) Offer(string, []steps.Choice) {}
