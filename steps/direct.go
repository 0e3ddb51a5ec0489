package steps

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"touchdown/backend/host"
	"touchdown/backend/report"
)

// Direct is the Report of a list that is run without an engine, by a command on the bench line: it prints, and keeps the
// originals in a folder.
type Direct struct {
	Host    *host.Machine
	Dir     string // of the saved originals, one folder below it for each step
	Out     io.Writer
	Changed bool // something was said: the machine is not as it was
	Failed  bool // a check failed

	step    string
	waiting string
}

var _ Report = (*Direct)(nil)

// For begins the report of a step.
func (d *Direct) For(s Step) *Direct {
	d.step, d.waiting = s.ID(), ""
	return d
}

// Progress prints what is waited for, once.
func (d *Direct) Progress(p Progress) {
	if p.Waiting == "" || p.Waiting == d.waiting {
		return
	}
	d.waiting = p.Waiting
	fmt.Fprint(d.Out, Linef("  ... %s", p.Waiting))
}

// Check prints a verdict, and what to do where it did not pass.
func (d *Direct) Check(c Check) {
	d.Failed = d.Failed || c.Status == Fail
	fmt.Fprint(d.Out, Linef("  %-4s  %s: %s", c.Status, c.Title, c.Observed))
	if c.Status != Pass && c.Fix != "" {
		fmt.Fprint(d.Out, Linef("        try: %s", c.Fix))
	}
	for _, line := range c.Evidence {
		fmt.Fprint(d.Out, Linef("        %s", line))
	}
}

// Say prints a sentence. Steps say only what they changed.
func (d *Direct) Say(format string, args ...any) {
	d.Changed = true
	fmt.Fprint(d.Out, Linef("  "+format, args...))
}

// Ask takes the default: nobody is there.
func (*Direct) Ask(_ context.Context, q Question) (string, error) { return q.Default, nil }

// Save keeps an original; the first one wins.
func (d *Direct) Save(key string, original []byte) error {
	if d.Host.Exists(d.file(key)) {
		return nil
	}
	return d.Host.WriteFile(d.file(key), original, 0o600)
}

// Saved returns what Save kept.
func (d *Direct) Saved(key string) ([]byte, error) { return d.Host.ReadFile(d.file(key)) }

// Note keeps a note; the last one holds.
func (d *Direct) Note(key string, value []byte) error {
	return d.Host.WriteFile(d.file("note-"+key), value, 0o600)
}

// Noted returns what Note kept.
func (d *Direct) Noted(key string) ([]byte, error) { return d.Host.ReadFile(d.file("note-" + key)) }

func (d *Direct) file(key string) string { return filepath.Join(d.Dir, d.step, key) }

// Forget removes what a step saved, once it is put back.
func (d *Direct) Forget() error {
	files, err := d.Host.Glob(d.file("*"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := d.Host.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

// Job tells nothing: without an engine nobody keeps what was done.
func (*Direct) Job() report.Job { return report.Job{} }

// Suggest does nothing: there is no form.
func (*Direct) Suggest(string, string, string) {}

// Offer does nothing: there is no form.
func (*Direct) Offer(string, []Choice) {}
