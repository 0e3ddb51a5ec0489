// Command attack plays the rounds of a random test, in their own processes, and says what they found. What is done is kept
// by commit and seed: the same command goes on where it was stopped, and more rounds are added to those before.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"touchdown/test/resume"
)

// attack is what the command line asks for.
type attack struct {
	name    string // of the make target
	pack    string // the test's package
	test    string
	unit    string // what a round consists of
	each    int    // how many of them
	n       int    // how many in all
	seed    uint64
	round   int // only this one, unless negative
	kept    string
	fresh   bool
	summary string // only sum up what is kept in this folder
}

func main() {
	log.SetFlags(0)
	var a attack
	flag.StringVar(&a.name, "name", "", "name of the attack")
	flag.StringVar(&a.pack, "package", "", "package of the test")
	flag.StringVar(&a.test, "test", "", "name of the test")
	flag.StringVar(&a.unit, "unit", "rounds", "what a round consists of")
	flag.IntVar(&a.each, "each", 1, "how many of them in a round")
	flag.IntVar(&a.n, "n", 0, "how many of them in all")
	flag.Uint64Var(&a.seed, "seed", 1, "seed of the rounds")
	flag.IntVar(&a.round, "round", -1, "play only this round, and keep nothing")
	flag.StringVar(&a.kept, "kept", "", "file that keeps what was done")
	flag.BoolVar(&a.fresh, "fresh", false, "play again what was played for this commit")
	flag.StringVar(&a.summary, "summary", "", "sum up what the files of this folder keep")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := a.run
	if a.summary != "" {
		run = func(context.Context) error { return sumUp(a.summary) }
	}
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func (a attack) run(ctx context.Context) error {
	binary, err := a.build(ctx)
	if err != nil {
		return err
	}
	if a.round >= 0 {
		_, finding := a.play(ctx, binary, a.round, a.round+1, func(done) error { return nil })
		fmt.Print(finding)
		if finding != "" {
			return fmt.Errorf("round %d of seed %d failed", a.round, a.seed)
		}
		log.Printf("round %d of seed %d: nothing found", a.round, a.seed)
		return nil
	}
	k := load(ctx, a.kept, a.fresh)
	r := k.of(a.seed)
	last := (a.n + a.each - 1) / a.each
	for r.Rounds < last {
		next, finding := a.play(ctx, binary, r.Rounds, last, func(d done) error {
			r.add(d)
			a.progress(r, last)
			return resume.Save(a.kept, k)
		})
		if ctx.Err() != nil {
			return errors.New("stopped; the same command continues")
		}
		if finding == "" {
			break
		}
		log.Printf("round %d FAILED\n%s", next, finding)
		r.Rounds = next + 1
		r.Findings = append(r.Findings, found{next, finding})
		if err := resume.Save(a.kept, k); err != nil {
			return err
		}
	}
	log.Print(r.text(a.name, a.unit, a.each, k.Commit))
	if len(r.Findings) > 0 {
		return fmt.Errorf("play one again: make %s SEED=%d ROUND=%d", a.name, a.seed, r.Findings[0].Round)
	}
	return nil
}

// progress prints a line for about each twentieth of the whole.
func (a attack) progress(r *played, last int) {
	if part := max(last/20, 1); r.Rounds%part == 0 && r.Rounds < last {
		log.Printf("%s: %d of %d %s", a.name, r.Rounds*a.each, last*a.each, a.unit)
	}
}

// build compiles the test once.
func (a attack) build(ctx context.Context) (string, error) {
	binary, err := filepath.Abs(filepath.Join(".cache", "bench", "bin", a.name+".test"))
	if err != nil {
		return "", fmt.Errorf("building the test: %w", err)
	}
	cmd := command(ctx, ".", "go", "test", "-c", "-o", binary, a.pack)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building the test: %w", err)
	}
	return binary, nil
}
