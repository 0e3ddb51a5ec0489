package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runTier runs what has no kept result and tells what was kept.
func runTier(ctx context.Context, o options) error {
	rows, err := chosen(o)
	if err != nil {
		return err
	}
	unlock, err := lock(ctx, o.cache)
	if err != nil {
		return err
	}
	defer unlock()
	results, err := runRows(ctx, o, rows)
	if err != nil {
		return err
	}
	return summary(results, len(rows))
}

// runRows runs each row that has no kept result, in the order given.
func runRows(ctx context.Context, o options, rows []Row) ([]Result, error) {
	k, err := newKeys(ctx, packagesOf(rows))
	if err != nil {
		return nil, err
	}
	made, err := k.ofAll(rows)
	if err != nil {
		return nil, err
	}
	var todo []Row
	var results []Result
	store := kept(o.cache)
	for _, r := range rows {
		if found, ok := store.find(r, made[r.String()]); ok && !o.fresh {
			fmt.Printf("kept  %6.1f s  %6.1f CPU s  %s (%s)\n", found.Seconds, found.CPU, r, found.When.Format("2 Jan 15:04"))
			results = append(results, found)
			continue
		}
		todo = append(todo, r)
	}
	w := &work{options: o, store: store, free: make(chan struct{}, o.jobs), built: map[string]*build{}}
	if slices.ContainsFunc(todo, Row.usesProgram) {
		if w.programIs, err = makeProgram(ctx); err != nil {
			return nil, err
		}
	}
	var all sync.WaitGroup
	for _, r := range todo {
		if ctx.Err() != nil {
			break
		}
		release := w.take(ctx, r)
		all.Go(func() {
			defer release()
			result := w.one(ctx, r)
			if ctx.Err() != nil { // what was stopped shows nothing
				return
			}
			result.Key = made[r.String()]
			w.add(k, r, result)
		})
	}
	all.Wait()
	return append(results, w.results...), errors.Join(ctx.Err(), w.err)
}

func packagesOf(rows []Row) []string {
	var all []string
	for _, r := range rows {
		if r.Make == "" && !slices.Contains(all, "./"+r.Package) {
			all = append(all, "./"+r.Package)
		}
	}
	return all
}

// work is a run of several rows, as many at once as there are places.
type work struct {
	options
	store kept
	free  chan struct{}

	programIs string // hash of the built program

	mu      sync.Mutex
	built   map[string]*build
	results []Result
	err     error
}

type build struct {
	once sync.Once
	err  error
}

// take waits for a place, or for all of them.
func (w *work) take(ctx context.Context, r Row) (release func()) {
	n := 1
	if r.Alone {
		n = w.jobs
	}
	taken := 0
	for range n {
		select {
		case w.free <- struct{}{}:
			taken++
		case <-ctx.Done():
		}
	}
	return func() {
		for range taken {
			<-w.free
		}
	}
}

// add takes in what came of a row, and keeps it: a failure takes the place of an earlier pass. In a hunt, beside other work, only failures count
// for that. What ran while its inputs changed is told, and counts for nothing: it shows neither what was there before nor what is now.
func (w *work) add(k *keys, r Row, result Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	same, err := w.unchanged(k, r, result.Key)
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	if !same {
		fmt.Println("its inputs changed while it ran:", r)
		return
	}
	w.results = append(w.results, result)
	if w.ended == nil {
		w.err = errors.Join(w.err, w.store.put(r, result))
		return
	}
	w.err = errors.Join(w.err, w.ended(result))
	if !result.Passed {
		w.err = errors.Join(w.err, w.store.withdraw(r))
	}
}

// unchanged tells whether a row's inputs are those of its key, and the program is the one that was built of them.
func (w *work) unchanged(k *keys, r Row, key string) (bool, error) {
	now, err := k.again()
	if err != nil {
		return false, err
	}
	if is, err := now.of(r); err != nil || is != key {
		return false, err
	}
	if !r.usesProgram() {
		return true, nil
	}
	is, err := programHash()
	return is == w.programIs, err
}

// one runs a row and prints what came of it.
func (w *work) one(ctx context.Context, r Row) Result {
	result := Result{Row: r.String(), When: time.Now().UTC(), Log: filepath.Join(w.cache, "log", r.id()+".log")}
	cmd, err := w.command(ctx, r)
	if err == nil {
		fmt.Printf("run                           %s\n", r)
		begun := time.Now()
		err = logged(cmd, result.Log)
		result.Seconds = time.Since(begun).Seconds()
		if used := cmd.ProcessState; used != nil {
			result.CPU = (used.UserTime() + used.SystemTime()).Seconds()
		}
	}
	output, _ := os.ReadFile(result.Log)
	result.Ran, result.Skipped = count(string(output))
	if err == nil {
		err = ran(r, result)
	}
	result.Passed = err == nil
	verdict := "PASS"
	if err != nil {
		verdict = "FAIL"
	}
	line := fmt.Sprintf("%s  %6.1f s  %6.1f CPU s  %s", verdict, result.Seconds, result.CPU, r)
	if n := len(result.Skipped); n > 0 {
		line += fmt.Sprintf(" (%d skipped: %s)", n, strings.Join(result.Skipped, ", "))
	}
	if err != nil {
		line += fmt.Sprintf(": %v; load %s; all of it: %s\n%s", err, loadAverage(), result.Log, end(string(output), 150))
	}
	fmt.Println(line)
	return result
}

// inCI has tests fail where the machine lacks what they need, in place of skipping: who runs the rows wants what they prove.
const inCI = "CI=true"

// ran says why a row whose program ended well shows nothing all the same.
func ran(r Row, result Result) error {
	switch {
	case r.Make != "" || result.Ran > 0:
		return nil
	case len(result.Skipped) == 0:
		return errors.New("it ran no test")
	case !r.Quick: // all quick tests of a package may be slow ones
		return errors.New("every test was skipped")
	}
	return nil
}

// command builds a package's tests once for all its rows.
func (w *work) command(ctx context.Context, r Row) (*exec.Cmd, error) {
	if r.Make != "" {
		cmd := exec.CommandContext(ctx, "make", append(strings.Fields(r.Make), "--no-print-directory")...)
		cmd.Env = environment(inCI, "MAKEFLAGS=") // those of a make above name pipes that are closed here
		return cmd, nil
	}
	program, err := w.program(ctx, r)
	if err != nil {
		return nil, err
	}
	if r.Quick {
		return w.quickly(ctx, program, r), nil
	}
	out, err := r.leftOut(".", table)
	if err != nil {
		return nil, err
	}
	// A test has its own bounds; this one ends what hangs, with a trace of what it does.
	limit := 10*time.Minute + 10*time.Duration(r.Seconds)*time.Second
	cmd := exec.CommandContext(ctx, program, "-test.v", "-test.paniconexit0", "-test.run="+r.pattern(), "-test.skip="+out,
		"-test.timeout="+limit.String())
	if w.shuffle {
		cmd.Args = append(cmd.Args, fmt.Sprintf("-test.shuffle=%d", w.order+1))
	}
	cmd.Dir = r.Package
	cmd.Env = append(environment(inCI), r.Env...)
	return cmd, nil
}

// program builds a package's tests, unless another row has them built already.
func (w *work) program(ctx context.Context, r Row) (string, error) {
	name, flags := unfit.ReplaceAllString(r.Package, "-"), []string{"test", "-ldflags=-w"} // what only a debugger reads
	if r.Quick {
		name, flags = name+"-race", append(flags, "-race")
	}
	program, err := filepath.Abs(filepath.Join(w.cache, "tests", name))
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	b := w.built[name]
	if b == nil {
		b = &build{}
		w.built[name] = b
	}
	w.mu.Unlock()
	b.once.Do(func() {
		if out, err := exec.CommandContext(ctx, "go", append(flags, "-c", "-o", program, "./"+r.Package)...).CombinedOutput(); err != nil {
			b.err = fmt.Errorf("building the tests: %w\n%s", err, out)
		}
	})
	return program, b.err
}

// logged runs a command with its output in a file. An end from outside lets it clean up.
func logged(cmd *exec.Cmd, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd.Run()
}
