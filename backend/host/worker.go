package host

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/layout/rhcos"
)

// maxSaid is how much of what a worker says before it falls is kept, in bytes.
const maxSaid = 4 << 10

// Worker starts this program once more, to load the machine without being in anyone's way, and hands each line that it prints to each,
// until it ends. On a machine that systemd runs it has its own scope, as nice binds only within a cgroup: it then has the smallest
// share of CPU and disk while others want them, and at most Memory bytes; the other limits do not bind it. With the end of ctx it is killed, and Worker returns
// within a second, also where the process is in the kernel, at a disk that does not answer.
func (l Limits) Worker(ctx context.Context, args []string, input *os.File, each func(line []byte)) error {
	said := &limited{left: maxSaid, full: func() {}}
	done := make(chan error, 1) // nobody may be there any more
	stdin, err := again(input)
	if err != nil {
		return err
	}
	go func() {
		defer stdin.Close()
		runtime.LockOSThread() // the kernel ends the process with the thread that started it (Pdeathsig)
		defer runtime.UnlockOSThread()
		self, err := os.Open("/proc/self/exe")
		if err != nil {
			done <- err
			return
		}
		defer self.Close()
		cmd := worker(ctx, args, l.Memory, scoped())
		cmd.ExtraFiles = []*os.File{self}
		cmd.Stderr = said
		if input != nil {
			cmd.Stdin = stdin
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			done <- err
			return
		}
		for lines := bufio.NewScanner(out); lines.Scan() && ctx.Err() == nil; {
			each(lines.Bytes())
		}
		done <- cmd.Wait()
	}()
	failed, ended := await(ctx, done, mercy/2)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("the worker was stopped: %w", context.Cause(ctx))
	case failed == nil || !ended:
		return failed
	}
	first, _, _ := strings.Cut(strings.TrimSpace(said.kept.String()), "\n")
	return fmt.Errorf("the worker ended: %w: %s", failed, first)
}

// again opens a file once more; nil stays nil. A worker that is stopped while it starts may be given its input after its caller has closed
// it and the number of the file is another one's, into which it would write.
func again(f *os.File) (*os.File, error) {
	if f == nil {
		return nil, nil
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %s for the worker: %w", f.Name(), err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// scoped tells whether systemd can give a worker a scope.
func scoped() bool {
	_, err := os.Stat(rhcos.BootedBySystemd)
	if err != nil || os.Geteuid() != 0 {
		return false
	}
	_, err = exec.LookPath("systemd-run")
	return err == nil
}

func worker(ctx context.Context, args []string, memory uint64, scope bool) *exec.Cmd {
	// The file that this process is, as its file 3: also where another file has taken its name, and from within systemd-run, which may
	// not look at a process that hides its memory.
	argv := append([]string{"/proc/self/fd/3"}, args...)
	if scope {
		argv = append([]string{
			"systemd-run", "--scope", "--quiet", "--collect", "--description=Touchdown worker",
			"--property=CPUWeight=1", "--property=IOWeight=1", "--property=MemoryMax=" + strconv.FormatUint(memory, 10), "--",
		}, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 200 * time.Millisecond
	return cmd
}
