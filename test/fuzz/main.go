// Command fuzz runs every fuzz target of the tree for a while, one after the other, and says what they found. Targets that ran
// for this commit and this time are not run again: what was stopped goes on where it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"touchdown/test/resume"
)

// target is one fuzz function.
type target struct{ Package, Name string }

func (t target) String() string { return t.Package + " " + t.Name }

// outcome is how a target ended.
type outcome struct {
	Target  string  `json:"target"`
	Seconds float64 `json:"seconds"`
	Execs   string  `json:"execs,omitempty"`   // the last line of progress that the go command wrote
	Finding string  `json:"finding,omitempty"` // the end of what it wrote, where it failed
}

// kept is the file of outcomes.
type kept struct {
	Commit   string    `json:"commit"`
	Time     string    `json:"time"` // for each target
	Outcomes []outcome `json:"outcomes"`
}

func main() {
	log.SetFlags(0)
	spend := flag.Duration("time", time.Minute, "how long each target runs")
	file := flag.String("kept", ".cache/bench/fuzz.json", "where outcomes are kept")
	only := flag.String("run", "", "only targets that this regular expression matches")
	fresh := flag.Bool("fresh", false, "run again what ran for this commit")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *file, *only, *spend, *fresh); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file, only string, spend time.Duration, fresh bool) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("reading -run: %w", err)
	}
	all, err := targets(".")
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(t target) bool { return !match.MatchString(t.String()) })
	k := load(ctx, file, spend, fresh)
	for n, t := range all {
		if slices.ContainsFunc(k.Outcomes, func(o outcome) bool { return o.Target == t.String() && o.Finding == "" }) {
			log.Printf("%2d/%d %s: ran for this commit", n+1, len(all), t)
			continue
		}
		o := fuzz(ctx, t, spend)
		if ctx.Err() != nil {
			return errors.New("stopped; the same command continues")
		}
		log.Printf("%2d/%d %s: %s", n+1, len(all), t, o.text())
		k.Outcomes = append(slices.DeleteFunc(k.Outcomes, func(old outcome) bool { return old.Target == t.String() }), o)
		if err := resume.Save(file, k); err != nil {
			return err
		}
	}
	return k.summary(all)
}

// targets finds the fuzz functions below a folder, without what is built or fetched.
func targets(dir string) ([]target, error) {
	function := regexp.MustCompile(`(?m)^func (Fuzz[A-Z0-9]\w*)\(\w+ \*testing\.F\)`)
	var all []target
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != dir && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata" || nested(path)) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range function.FindAllSubmatch(text, -1) {
			all = append(all, target{"./" + filepath.Dir(path), string(found[1])})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for fuzz targets: %w", err)
	}
	return all, nil
}

// nested tells whether a folder is another module.
func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// load reads the outcomes of this commit, time and work tree; of another one there are none.
func load(ctx context.Context, file string, spend time.Duration, fresh bool) *kept {
	commit, err := resume.Commit(ctx)
	if err == nil && !fresh {
		same := func(old *kept) bool {
			return resume.Clean(commit) && old.Commit == commit && old.Time == spend.String()
		}
		if old := resume.Load(file, same); old != nil {
			return old
		}
	}
	return &kept{Commit: commit, Time: spend.String()}
}

// fuzz runs one target. The go command keeps what it finds below the package's testdata, where it is a test from then on.
func fuzz(ctx context.Context, t target, spend time.Duration) outcome {
	ctx, cancel := context.WithTimeout(ctx, spend+10*time.Minute) // it is built first
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", t.Package, "-run=^$", "-fuzz=^"+t.Name+"$", "-fuzztime="+spend.String(), "-timeout=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	out, err := cmd.CombinedOutput()
	o := outcome{Target: t.String(), Seconds: time.Since(began).Round(time.Second).Seconds()}
	for line := range strings.Lines(string(out)) {
		if _, progress, found := strings.Cut(line, "execs: "); found {
			o.Execs = strings.TrimSpace(progress)
		}
	}
	if err != nil {
		o.Finding = err.Error() + "\n" + string(out[max(0, len(out)-8<<10):])
	}
	return o
}

func (o outcome) text() string {
	if o.Finding != "" {
		return "FOUND\n" + o.Finding
	}
	return fmt.Sprintf("nothing found in %.0f s, %s", o.Seconds, o.Execs)
}

func (k *kept) summary(all []target) error {
	var found []string
	for _, o := range k.Outcomes {
		if o.Finding != "" && slices.ContainsFunc(all, func(t target) bool { return t.String() == o.Target }) {
			found = append(found, o.Target)
		}
	}
	log.Printf("%d targets, %s each, commit %s: %d findings", len(all), k.Time, k.Commit, len(found))
	if len(found) > 0 {
		return fmt.Errorf("found by: %s", strings.Join(found, ", "))
	}
	return nil
}
