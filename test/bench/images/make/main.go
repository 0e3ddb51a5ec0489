// Command make makes the images of the bench in a new folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"touchdown/test/bench/images"
)

func main() {
	size := flag.String("size", "small", "small, test or benchmark")
	seed := flag.Uint64("seed", 7, "what everything random follows from")
	program := flag.String("program", "", "the program that is in every image as /pod")
	out := flag.String("out", "", "folder to be made")
	flag.Parse()
	if err := run(*size, *seed, *program, *out); err != nil {
		fmt.Fprintln(os.Stderr, "making images:", err)
		os.Exit(1)
	}
}

func run(name string, seed uint64, program, out string) error {
	o := images.Options{Seed: seed}
	for _, s := range []images.Size{images.Small, images.Test, images.Benchmark} {
		if s.Name == name {
			o.Size = s
		}
	}
	if o.Size.Name == "" {
		return fmt.Errorf("there is no size %q", name)
	}
	var err error
	if o.Program, err = os.ReadFile(program); err != nil {
		return fmt.Errorf("reading the program: %w", err)
	}
	begun, half := time.Now(), out+".new"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if err := images.Make(context.Background(), half, o); err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	if err := os.Rename(half, out); err != nil {
		return err
	}
	f, err := images.Open(out)
	if err != nil {
		return err
	}
	unpacked, layers := int64(0), map[images.Digest]bool{}
	for _, i := range f.Images {
		for _, l := range i.Layers {
			if !layers[l.DiffID] {
				layers[l.DiffID] = true
				unpacked += l.Tar
			}
		}
	}
	fmt.Printf("%d images, %d layers, %d MB unpacked, in %.1f s\n", len(f.Images), len(layers), unpacked>>20, time.Since(begun).Seconds())
	return nil
}
