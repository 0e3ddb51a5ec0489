package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"touchdown/test/rounds"
)

// done is a round that is over.
type done = rounds.Over

// most is how much of what a failed process wrote is kept, in bytes: its end.
const most = 64 << 10

// command runs in a new process group, which ends with ctx.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// play has one process play the rounds before last, and calls each for every one that is over. Where one fails it returns its
// number and what the process wrote.
func (a attack) play(ctx context.Context, binary string, from, last int, each func(done) error) (round int, finding string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := command(ctx, a.pack, binary, "-test.run=^"+a.test+"$", "-test.v", "-test.timeout=0")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d", rounds.Env, a.seed, from, last))
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
		cmd.Env = append(cmd.Env, rounds.OwnMounts+"=yes")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return from, err.Error()
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return from, err.Error()
	}
	var rest strings.Builder
	lines := bufio.NewReader(out)
	for round = from; ; {
		line, err := lines.ReadString('\n')
		var d done
		if text, over := strings.CutPrefix(line, rounds.Mark); over && json.Unmarshal([]byte(text), &d) == nil {
			round = d.Round + 1
			rest.Reset()
			if err := each(d); err != nil {
				return round, err.Error()
			}
		} else {
			rest.WriteString(line)
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		text := rest.String()
		return round, text[max(0, len(text)-most):] + err.Error() + "\n"
	}
	return round, ""
}
