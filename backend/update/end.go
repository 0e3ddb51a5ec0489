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
	dropIn = "/run/systemd/system/" + layout.EngineUnit + ".d/zz-touchdown-update.conf"
	// endUnit is the timer that ends a trial, and the service that it starts. Both are in systemd's memory alone.
	endUnit = "touchdown-update-end"
	// endAfter is long enough for two programs on a slow disk and the first answer of an engine, in seconds.
	endAfter = "120"
	// endScript is what `end` does, for a shell: which program is in place then, and what it can, is not known. The drop-in may be gone
	// already, and the engine still be the one of the trial.
	endScript = "rm -f " + dropIn + " && systemctl daemon-reload && systemctl restart " + layout.EngineUnit
)

// alone does the work under a timer that ends its trial, should this process not live to do so. There is one timer: a second update
// is refused for as long as it runs (UPD-TWCE).
func (c *Change) alone(ctx context.Context, work func() error) error {
	if !c.Engine {
		return work()
	}
	_, err := c.Node.Run(ctx, "systemd-run", "--quiet", "--collect", "--unit="+endUnit, "--on-active="+endAfter, "--timer-property=AccuracySec=1s",
		"--description=Touchdown ends the trial of another program", "/bin/sh", "-c", endScript)
	if err != nil {
		if _, inactive := c.Node.Run(ctx, "systemctl", "is-active", "--quiet", endUnit+".timer"); inactive == nil {
			return &problem.Problem{
				Code: "UPD-TWCE", Summary: message.T("Another update of this node is under way, or was stopped in the middle."),
				Fix: message.T("Wait for its end, which comes within 2 minutes; then run the same command again."), Err: err,
			}
		}
		return fmt.Errorf("setting a timer for the end of the trial: %w", err)
	}
	err = work()
	_, left := c.Node.Run(context.WithoutCancel(ctx), "systemctl", "stop", endUnit+".timer")
	return errors.Join(err, left)
}

// begin has the engine's unit run the program in another file, until the end of the trial or of the boot.
func (c *Change) begin(file string) error {
	return c.Node.WriteFile(dropIn, []byte("[Service]\nExecStart=\nExecStart="+file+" engine\n"), 0o644)
}

// end has the unit run the program in place again, and sees that it answers.
func (c *Change) end(ctx context.Context, version string) error {
	if err := c.Node.Remove(dropIn); err != nil {
		return err
	}
	return c.starts(ctx, version)
}
