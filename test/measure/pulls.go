package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"touchdown/test/bench/figures"
	"touchdown/test/bench/images"
	"touchdown/test/bench/pulls"
	"touchdown/test/bench/site"
)

const (
	pullRounds = 3  // of each method, one after the other; medians count
	pullImages = 25 // of the bench's images of the size for tests: 71 layers, 0.7 GB as they are fetched
)

// pulled measures the pulls of a node's CRI-O from the site's registry: over a line, and beside it.
func pulled(ctx context.Context, s setup) (taken map[string]figures.Figure, err error) {
	b, err := pulls.Launch(ctx, images.Test)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	rounds, workers := number("PULL_ROUNDS", pullRounds), number("PULL_WORKERS", 0)
	if s.small {
		rounds = 1
	}
	took := map[string][]pulls.Took{}
	for _, line := range []struct {
		name string
		line site.Line
	}{{"wan", site.WAN()}, {"local", site.Line{}}} {
		b.Registry.Lay(line.line)
		for range rounds {
			serial, err := b.Serial(ctx, pullImages)
			if err != nil {
				return nil, err
			}
			parallel, err := b.Parallel(ctx, pullImages, workers)
			if err != nil {
				return nil, err
			}
			for name, one := range map[string]pulls.Took{"serial": serial, "parallel": parallel} {
				took[line.name+" "+name] = append(took[line.name+" "+name], one)
				fmt.Printf("  %-20s %7.2f s %7.2f busy s %9.1f MB fetched, %d images; load %s", line.name+" "+name, one.Seconds, one.Busy, float64(one.Bytes)/1e6, one.Images, load())
			}
		}
	}
	of := func(name string, f func(pulls.Took) float64) float64 {
		values := make([]float64, 0, rounds)
		for _, one := range took[name] {
			values = append(values, f(one))
		}
		return median(values)
	}
	seconds := func(t pulls.Took) float64 { return t.Seconds }
	megabytes := func(t pulls.Took) float64 { return float64(t.Bytes) / 1e6 }
	wan, serial := of("wan parallel", seconds), of("wan serial", seconds)
	local, floor := of("local parallel", seconds), of("local parallel", func(t pulls.Took) float64 { return t.Busy / float64(runtime.NumCPU()) })
	return map[string]figures.Figure{
		"pulls_wan_s":        figures.Beside(wan, "s", "one after the other (30 ms, 20 MB/s a connection, 100 MB/s in all); goal 0.625 or less", serial),
		"pulls_wan_mb":       figures.Beside(of("wan parallel", megabytes), "MB", "one after the other; goal 1.05 or less", of("wan serial", megabytes)),
		"pulls_local_s":      figures.Beside(local, "s", "the time that the processors were busy meanwhile, over their number; goal 1.25 or less", floor),
		"pulls_local_loop_s": figures.Beside(local, "s", "one after the other", of("local serial", seconds)),
	}, nil
}

// number reads a whole number from the environment.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// load is what the machine did besides, as the kernel says it.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown\n"
	}
	return string(data)
}
