package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/test/wait"
)

// inside are what a confined process of these tests does, by the word behind its name.
var inside = map[string]func() error{
	"confined-try": func() error {
		// Read before the way is closed, as the runtime has read all that it needs.
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		if err := confine(); err != nil {
			return err
		}
		found := map[string]string{"status": string(status), "environment": fmt.Sprint(os.Environ())}
		for what, try := range map[string]func() error{
			"open":   func() error { return opened("/etc/shadow") },
			"read":   func() error { return opened("/dev/null") },
			"create": func() error { return os.WriteFile("/tmp/confined", nil, 0o600) },
			"unlink": func() error { return os.Remove("/etc/hostname") },
			"socket": func() error { _, err := net.Dial("udp", "192.0.2.1:9"); return err },
			"unix":   func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
			"start":  func() error { return exec.Command("/bin/true").Run() },
			"exec":   func() error { return unix.Exec("/bin/true", []string{"true"}, nil) },
			"signal": func() error { return unix.Kill(unix.Getppid(), 0) },
			"trace":  func() error { return unix.PtraceAttach(1) },
			"mount":  func() error { return unix.Mount("none", "/tmp", "tmpfs", 0, "") },
			"share": func() error {
				_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
				return err
			},
			"control": func() error { _, err := unix.IoctlGetInt(0, unix.BLKGETSIZE64); return err },
		} {
			found[what] = fmt.Sprint(try())
		}
		// Threads and memory for the collector must still be allowed.
		done := make(chan int)
		for range 20 {
			go func() { done <- len(make([]byte, 1<<20)) }()
		}
		for range 20 {
			<-done
		}
		input, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		found["input"] = string(input)
		return json.NewEncoder(os.Stdout).Encode(found)
	},
	"confined-threads": func() error {
		if err := Confine(Limits{CPUSeconds: 1, Memory: 32 << 20}); err != nil {
			return err
		}
		// A machine with much to do keeps threads waiting, so that the runtime starts others.
		var begun, done sync.WaitGroup
		end := make(chan struct{})
		for range threads - 1 {
			begun.Add(1)
			done.Go(func() {
				runtime.LockOSThread()
				begun.Done()
				<-end
			})
		}
		begun.Wait()
		kept := make([]byte, 16<<20)
		for i := 0; i < len(kept); i += 4096 {
			kept[i] = 1
		}
		close(end)
		done.Wait()
		fmt.Print(len(kept))
		return nil
	},
	"confined-memory": func() error {
		if err := confine(); err != nil {
			return err
		}
		var kept [][]byte
		for range 1 << 10 {
			kept = append(kept, make([]byte, 1<<20))
			for i := 0; i < 1<<20; i += 4096 {
				kept[len(kept)-1][i] = 1
			}
		}
		fmt.Println(len(kept))
		return nil
	},
	"confined-time": func() error {
		if err := confine(); err != nil {
			return err
		}
		for n := 0; ; n++ {
			_ = n
		}
	},
	"confined-wait": func() error {
		if err := confine(); err != nil {
			return err
		}
		time.Sleep(time.Hour)
		return nil
	},
	"confined-flood": func() error {
		for {
			fmt.Println(strings.Repeat("x", 1000))
		}
	},
	"confined-order": func() error {
		order, err := io.ReadAll(os.NewFile(3, "order"))
		if err != nil {
			return err
		}
		if err := confine(); err != nil {
			return err
		}
		input, err := io.ReadAll(os.Stdin)
		fmt.Printf("%s of %s", order, input)
		return err
	},
	"confined-fall": func() error { return errors.New("it fell") },
	"worker-repeats": func() error {
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	},
	"worker-stays": func() error {
		fmt.Println(os.Getpid())
		time.Sleep(time.Hour)
		return nil
	},
	"confined-few": func() error { // what the test calls in a process with few capabilities
		input, err := os.Open("/etc/hostname")
		if err != nil {
			return err
		}
		out, err := Confined{Args: []string{"confined-try"}, Input: input, Most: 64 << 10, Time: time.Minute}.Run(context.Background())
		if err != nil {
			return err
		}
		// It can still be ended.
		_, err = Confined{Args: []string{"confined-wait"}, Input: input, Most: 1, Time: 300 * time.Millisecond}.Run(context.Background())
		if !errors.Is(err, errConfined) || strings.Contains(fmt.Sprint(err), "cannot be ended") {
			return fmt.Errorf("it was not ended: %w", err)
		}
		_, err = os.Stdout.Write(out)
		return err
	},
}

func confine() error { return Confine(Limits{CPUSeconds: 1, Memory: 48 << 20}) }

func opened(path string) error {
	f, err := os.Open(path)
	if err == nil {
		_ = f.Close()
	}
	return err
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && inside[os.Args[1]] != nil {
		if err := inside[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func run(t *testing.T, what string, time time.Duration) ([]byte, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte("what it may read"), 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	return Confined{Args: []string{what}, Input: input, Most: 64 << 10, Time: time}.Run(t.Context())
}

// TestConfined holds that a confined process has no way out, and that what it needs works.
func TestConfined(t *testing.T) {
	t.Setenv("PLANTED_SECRET", "x")
	before := newPrivileges(t) // containers often have given them up
	out, err := run(t, "confined-try", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var found map[string]string
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"open", "read", "create", "unlink", "socket", "unix", "start", "exec", "signal", "trace", "mount", "share", "control"} {
		if !strings.Contains(found[what], syscall.EPERM.Error()) {
			t.Errorf("%s: %s", what, found[what])
		}
	}
	if found["input"] != "what it may read" || strings.Contains(found["environment"], "PLANTED") {
		t.Errorf("input %q, environment %s", found["input"], found["environment"])
	}
	if !strings.Contains(found["status"], "NoNewPrivs:\t1") {
		t.Errorf("it could get privileges:\n%s", found["status"])
	}
	if os.Geteuid() == 0 && (!strings.Contains(found["status"], fmt.Sprintf("Uid:\t%d\t%d\t%d", nobody, nobody, nobody)) || !strings.Contains(found["status"], "CapEff:\t0000000000000000") || !strings.Contains(found["status"], "Groups:\t \n")) {
		t.Errorf("it has rights:\n%s", found["status"])
	}
	if after := newPrivileges(t); after != before {
		t.Errorf("this process gave its own privileges up: NoNewPrivs %s, before %s", after, before)
	}
}

// newPrivileges is what the kernel says of this process: 0 where a program that it starts may get more rights than it has.
func newPrivileges(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(status), "NoNewPrivs:\t")
	if !found {
		t.Fatalf("the kernel does not tell NoNewPrivs:\n%s", status)
	}
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// TestConfinedByAFewCapabilities: the engine of a node is root and may not change users (touchdown-engine.service). What it starts
// has no capability, no way out, and can be ended.
func TestConfinedByAFewCapabilities(t *testing.T) {
	wait.Root(t)
	var out bytes.Buffer
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var has [2]unix.CapUserData
		err := errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), unix.Capget(&header, &has[0]))
		has[0].Effective &^= needed
		has[0].Permitted &^= needed
		has[0].Inheritable = 0
		if err = errors.Join(err, unix.Capset(&header, &has[0])); err == nil {
			cmd := exec.Command("/proc/self/exe", "confined-few")
			cmd.Stdout, cmd.Stderr = &out, &out
			err = cmd.Run()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	var found map[string]string
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	for what, try := range found {
		if what != "status" && what != "environment" && what != "input" && !strings.Contains(try, syscall.EPERM.Error()) {
			t.Errorf("%s: %s", what, try)
		}
	}
	for _, line := range []string{"Uid:\t0\t0\t0", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapInh:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(found["status"], line) {
			t.Errorf("it has rights, %q is not told:\n%s", line, found["status"])
		}
	}
}

// TestAReaderThatCannotBeKilled: nobody waits for a process that does not end.
func TestAReaderThatCannotBeKilled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ended := await(ctx, make(chan error), time.Millisecond); ended {
		t.Error("it ended")
	}
	done := make(chan error, 1)
	done <- errors.New("killed")
	if err, ended := await(ctx, done, time.Minute); !ended || err == nil {
		t.Errorf("%v, %t", err, ended)
	}
}

// TestConfinedHasItsOrder: what it is to do comes beside what it reads, and only what it may write comes back.
func TestConfinedHasItsOrder(t *testing.T) {
	file := func(text string) *os.File {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	c := Confined{Args: []string{"confined-order"}, Input: file("the medium"), Order: file("the sum"), Most: 64 << 10, Large: true, Time: time.Minute}
	if out, err := c.Run(t.Context()); err != nil || string(out) != "the sum of the medium" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestConfinedThreads: the stacks of the runtime's threads do not count. The race detector has the C library start them, as the program does.
func TestConfinedThreads(t *testing.T) {
	if out, err := run(t, "confined-threads", time.Minute); err != nil || string(out) != fmt.Sprint(16<<20) {
		t.Errorf("%s, %v", out, err)
	}
}

// TestConfinedEnds holds that a process ends at each of its limits.
func TestConfinedEnds(t *testing.T) {
	for what, want := range map[string]string{
		"confined-memory": "out of memory", "confined-time": "signal: killed", "confined-wait": "deadline exceeded",
		"confined-flood": "more than", "confined-fall": "it fell",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if what == "confined-wait" {
				limit = 300 * time.Millisecond
			}
			_, err := run(t, what, limit)
			// The Go runtime has another message when it cannot allocate its own tables, and so has the race detector.
			said := strings.NewReplacer("ThreadSanitizer failed to allocate", "out of memory", "runtime: cannot allocate memory", "out of memory").Replace(fmt.Sprint(err))
			if !errors.Is(err, errConfined) || !strings.Contains(said, want) {
				t.Errorf("want %q, got %v", want, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Confined{Args: []string{"confined-wait"}, Most: 1, Time: time.Minute}).Run(ctx); err == nil {
		t.Error("it ran although nobody waits")
	}
}
