package update

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Node is what an update needs of the machine; *host.Machine is one.
type Node interface {
	ReadFile(path string) ([]byte, error)
	WriteFile(path string, data []byte, perm fs.FileMode) error
	Remove(path string) error
	Run(ctx context.Context, argv ...string) (string, error)
}

// Change gives the node another program. Its engine is tried first, while the program in the place of the node's stays what it was: a
// drop-in below /run, which no boot knows, has the engine's unit run the other file. Only an engine that has answered gets the place.
// So a power cut at any moment leaves a program whose engine has answered on this node, and the boot has nothing to judge. Where this
// process ends in the middle without a power cut, or a command to systemd fails, a timer of systemd ends the trial (end.go).
type Change struct {
	Node   Node
	Engine bool                                              // a unit of this machine runs the engine
	Answer func(context.Context) (version string, err error) // waits for the first answer of an engine that was just started
	Say    func(format string, args ...any)
	Older  bool // To takes an older release, too

	unended bool // the last try to end the trial has failed
}

// stuck is the code where the program in place is one whose engine does not answer.
const stuck = "UPD-STCK"

// To gives the node the program of a release, and keeps the one that it had.
func (c *Change) To(ctx context.Context, r *Release) error {
	have, err := c.Node.ReadFile(layout.Program)
	if err != nil {
		return fmt.Errorf("reading the node's program: %w", err)
	}
	return c.alone(ctx, func() error {
		if err := c.Node.WriteFile(layout.CandidateProgram, r.program, 0o755); err != nil {
			return err
		}
		err := c.newer(ctx)
		if err != nil {
			return errors.Join(err, c.Node.Remove(layout.CandidateProgram))
		}
		err = c.try(ctx, layout.CandidateProgram, func() error {
			if err := c.Node.WriteFile(layout.PreviousProgram, have, 0o755); err != nil {
				return err
			}
			if err := c.Node.WriteFile(layout.Program, r.program, 0o755); err != nil {
				return err
			}
			return c.Node.Remove(layout.CandidateProgram) // an engine that starts and finds it tells of an update that was cut off
		})
		if err != nil {
			err = errors.Join(err, c.Node.Remove(layout.CandidateProgram))
		}
		return err
	})
}

// newer refuses a candidate that is older than the node's program (UPD-PAST). A program of the node that does not start has no version.
func (c *Change) newer(ctx context.Context) error {
	if c.Older {
		return nil
	}
	says, err := versionOf(ctx, c.Node, layout.CandidateProgram)
	if err != nil {
		return err
	}
	has, err := versionOf(ctx, c.Node, layout.Program)
	if err != nil {
		return nil
	}
	return past(says, has)
}

// Back gives the node the program before, and keeps the other one, so that a second Back undoes the first (UPD-FRST where there is none).
func (c *Change) Back(ctx context.Context) error {
	if _, err := c.Node.ReadFile(layout.PreviousProgram); errors.Is(err, fs.ErrNotExist) {
		return &problem.Problem{
			Code: "UPD-FRST", Summary: message.T("This node has had no other program yet: there is none to go back to."),
			Fix: message.T("An older release is installed with touchdown update FOLDER --older."), Err: err,
		}
	}
	return c.alone(ctx, func() error { return c.try(ctx, layout.PreviousProgram, c.swap) })
}

// swap puts the program before into place and keeps the other one. A cut in between leaves the program before in both places.
func (c *Change) swap() error {
	before, err := c.Node.ReadFile(layout.PreviousProgram)
	if err != nil {
		return fmt.Errorf("reading the program before: %w", err)
	}
	have, err := c.Node.ReadFile(layout.Program)
	if err != nil {
		return fmt.Errorf("reading the node's program: %w", err)
	}
	if err := c.Node.WriteFile(layout.Program, before, 0o755); err != nil {
		return err
	}
	return c.Node.WriteFile(layout.PreviousProgram, have, 0o755)
}

// try has the engine of the program in a file answer. Then the exchange puts it into place.
func (c *Change) try(ctx context.Context, file string, exchange func() error) error {
	version, err := versionOf(ctx, c.Node, file)
	if err != nil {
		return err
	}
	c.Say("The program starts here: %s", version)
	if !c.Engine {
		c.Say("No unit of this machine has an engine; there is nothing to try or to start.")
		return exchange()
	}
	err = c.begin(file)
	if err == nil {
		err = c.restart(ctx)
	}
	if err == nil {
		err = c.answers(ctx, version)
	}
	if err == nil {
		err = c.goesOn()
	}
	ctx = context.WithoutCancel(ctx) // whatever came of it, the node gets an engine with the program in place
	if err != nil {
		return c.kept(errors.Join(err, c.end(ctx, "")))
	}
	if err := exchange(); err != nil {
		return errors.Join(err, c.end(ctx, ""))
	}
	if err := c.end(ctx, version); err != nil {
		return c.recover(ctx, err)
	}
	return nil
}

// restart starts the engine's unit from its files. It does so also where systemd could not read them.
func (c *Change) restart(ctx context.Context) error {
	_, err := c.Node.Run(ctx, "systemctl", "daemon-reload")
	_, started := c.Node.Run(ctx, "systemctl", "restart", layout.EngineUnit)
	return errors.Join(err, started)
}

// answers sees that the engine of this version answers ("": any).
func (c *Change) answers(ctx context.Context, version string) error {
	is, err := c.Answer(ctx)
	if err == nil && version != "" && !slices.Contains(strings.Fields(version), is) {
		return fmt.Errorf("the engine that answers is of version %s", is)
	}
	return err
}

// recover takes back a program whose engine has answered in the trial, and not when it was started again.
func (c *Change) recover(ctx context.Context, cause error) error {
	swapped := c.swap()
	cause = errors.Join(cause, swapped, c.end(ctx, ""))
	if swapped == nil {
		return c.kept(cause)
	}
	return &problem.Problem{
		Code: stuck, Summary: message.T("The engine does not answer with this program, and the program before could not be put back."),
		Fix: message.F("Copy %s to %s and restart touchdown-engine.", layout.PreviousProgram, layout.Program), Err: cause,
	}
}

// kept tells that all is as it was. Where the trial could not be ended, that is not so, and late tells what is.
func (c *Change) kept(cause error) error {
	if c.unended {
		return cause
	}
	return &problem.Problem{
		Code: "UPD-BACK", Summary: message.T("The engine does not answer with this program. The node has the program that it had before."),
		Fix: message.T("Look at `journalctl -u touchdown-engine`, and keep what it says for whoever made the release."), Err: cause,
	}
}
