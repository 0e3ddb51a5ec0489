package update

import (
	"context"
	"errors"
	"fmt"

	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	// dropIn has the engine's unit run another file. It comes behind all other drop-ins by its name. The Machine Config Operator looks at
	// files below /etc that it has laid, and not at this one.
	dropIn = layout.TrialDropIn
	// endUnit is the timer that ends a trial, and the service that it starts. Both are in systemd's memory alone.
	endUnit = layout.TrialUnit
	// endAfter is long enough for two programs on a slow disk, two engines that do not stop and the latest first answer of each (6 minutes),
	// in seconds. Where the node's own program does not answer either, it is started a third time, which may meet the timer: that starts it too.
	endAfter = "900"
	// endScript is what `end` does, for a shell: which program is in place then, and what it can, is not known. The drop-in may be gone
	// already, and the engine still be the one of the trial. No part waits for the success of the one before.
	endScript = "rm -f " + dropIn + "; systemctl daemon-reload; systemctl restart " + layout.EngineUnit
)

// alone does the work under a timer that ends its trial, should this process not live to do so, or not be able to. There is one timer: a
// second update is refused while it runs (UPD-TWCE).
func (c *Change) alone(ctx context.Context, work func() error) error {
	if !c.Engine {
		return work()
	}
	runs, err := c.arm(ctx)
	switch {
	case runs:
		return &problem.Problem{
			Code: "UPD-TWCE", Summary: message.T("Another update of this node is under way, or was stopped in the middle."),
			Fix: message.T("Wait for its end, which comes within 15 minutes; then run the same command again."), Err: err,
		}
	case err != nil:
		return fmt.Errorf("setting a timer for the end of the trial: %w", err)
	}
	c.unended = false
	err = work()
	ctx = context.WithoutCancel(ctx)
	if c.unended {
		return c.late(ctx, err)
	}
	c.disarm(ctx)
	return err
}

// arm starts the timer, or tells that it runs.
func (c *Change) arm(ctx context.Context) (runs bool, err error) {
	_, err = c.Node.Run(ctx, "systemd-run", "--quiet", "--collect", "--unit="+endUnit, "--on-active="+endAfter, "--timer-property=AccuracySec=1s",
		"--description=Touchdown ends the trial of another program", "/bin/sh", "-c", endScript)
	return err != nil && c.runs(ctx), err
}

func (c *Change) runs(ctx context.Context) bool {
	_, err := c.Node.Run(ctx, "systemctl", "is-active", "--quiet", endUnit+".timer")
	return err == nil
}

// disarm stops the timer. One that has elapsed is gone from systemd, and cannot be stopped; one that goes on harms nothing.
func (c *Change) disarm(ctx context.Context) {
	if _, err := c.Node.Run(ctx, "systemctl", "stop", endUnit+".timer"); err != nil && c.runs(ctx) {
		c.Say("The timer %s could not be stopped: systemd starts the engine once more within 15 minutes.", endUnit)
	}
}

// late leaves the end of the trial to the timer. Where that has elapsed before, there is another one.
func (c *Change) late(ctx context.Context, cause error) error {
	runs, err := c.arm(ctx)
	switch {
	case problem.From(cause).Code == stuck:
		return cause // the program in place is the wrong one: to start it is not enough
	case runs || err == nil:
		return &problem.Problem{
			Code: "UPD-LATE", Summary: message.T("The update did not succeed, and the engine of the node's program could not be started again. It may not answer now."),
			Fix: message.T("Wait for systemd, which starts it within 15 minutes; then run the same command again."), Err: cause,
		}
	}
	return &problem.Problem{
		Code: "UPD-HAND", Summary: message.T("The update did not succeed, the engine of the node's program could not be started again, and systemd has no timer to do it."),
		Fix: message.F("Run as root: rm -f %s; systemctl daemon-reload; systemctl restart touchdown-engine", dropIn), Err: errors.Join(cause, err),
	}
}

// begin has the engine's unit run the program in another file, until the end of the trial or of the boot.
func (c *Change) begin(file string) error {
	return c.Node.WriteFile(dropIn, []byte("[Service]\nExecStart=\nExecStart="+file+" engine\n"), 0o644)
}

// goesOn tells whether the trial was not ended by the timer. The drop-in goes first then: where it is there after an answer, the engine that
// answered was the one of the trial, whatever its version says.
func (c *Change) goesOn() error {
	if _, err := c.Node.ReadFile(dropIn); err != nil {
		return fmt.Errorf("the trial was over before its engine answered: %w", err)
	}
	return nil
}

// end has the unit run the program in place again, and sees that it answers. It does each part, whatever became of the one before; where
// one failed, the timer has to do them again.
func (c *Change) end(ctx context.Context, version string) error {
	err := errors.Join(c.Node.Remove(dropIn), c.restart(ctx))
	if err == nil {
		err = c.answers(ctx, version)
	}
	c.unended = err != nil
	return err
}
