package burnin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"touchdown/backend/message"
)

// WorkerCommand is the command by which the program starts itself as the worker of a burn-in. Its argument is an order; its standard
// input is the file on the disk.
const WorkerCommand = "burn-in-worker"

// Order is what the load is told.
type Order struct {
	Seconds float64 `json:"seconds"`
	CPUs    []int   `json:"cpus"`
	Memory  int64   `json:"memory"` // bytes to test
	Leave   int64   `json:"leave"`  // MemAvailable, in bytes, below which it gives all of them back
	File    int64   `json:"file"`   // size of the file in bytes; 0: no test of the disk
	Writes  int64   `json:"writes"` // bytes that it may write in all
}

// hang is how long the end waits for a request of the disk. One that takes longer will not come back.
const hang = 20 * time.Second

// Serve is the worker: it does what the order says and prints a Tally each second.
func Serve(ctx context.Context, text string, disk *os.File, out io.Writer) error {
	var o Order
	if err := json.Unmarshal([]byte(text), &o); err != nil || len(o.CPUs) == 0 || o.Seconds <= 0 {
		return fmt.Errorf("%s is for touchdown factory --burn-in, which starts it", WorkerCommand)
	}
	// The kernel ends this process first when memory runs out, whatever the engine that started it was spared.
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		return fmt.Errorf("being the first to go when memory runs out: %w", err)
	}
	runtime.GOMAXPROCS(len(o.CPUs) + 2) // each core keeps one; a tally and the disk need their own
	lines := json.NewEncoder(out)
	return work(ctx, o, disk, tamper{}, func(t Tally) error { return lines.Encode(printed{t, message.Of(t)}) })
}

// work loads the machine until the time is over or ctx ends, and tells each second what was done.
func work(ctx context.Context, o Order, file *os.File, spoil tamper, tell func(Tally) error) error {
	ctx, stop := context.WithTimeout(ctx, time.Duration(o.Seconds*float64(time.Second)))
	defer stop()
	if spoil.available == nil {
		spoil.available = available
	}
	b, data, tight := newBooks(spoil), kernelData(), &atomic.Bool{}
	var cores sync.WaitGroup
	share := o.Memory / int64(len(o.CPUs)) / memoryBlock * memoryBlock
	for _, cpu := range o.CPUs {
		cores.Go(func() { (&core{cpu: cpu, share: share, data: data, books: b}).run(ctx, tight) })
	}
	disk := make(chan struct{})
	go func() {
		defer close(disk)
		if o.File > 0 {
			(&disker{file: file, size: o.File, writes: o.Writes, books: b}).run(ctx)
		}
	}()
	for tick := time.NewTicker(time.Second); ctx.Err() == nil; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			continue
		}
		if free, err := spoil.available(); share > 0 && !tight.Load() && (err != nil || free < o.Leave) {
			tight.Store(true)
			b.memoryEnds(message.F("only %d MiB were available: it was given back", free>>20))
		}
		if err := tell(b.now()); err != nil {
			return fmt.Errorf("telling what was done: %w", err)
		}
	}
	cores.Wait()
	select {
	case <-disk:
	case <-time.After(hang):
		b.wrong(kindDisk, message.F("a request did not come back within %d s", int(hang.Seconds())))
	}
	b.keep(func(t *Tally) { t.Done = true })
	return tell(b.now())
}

// available is how much memory programs can have without anything being swapped or killed, in bytes: MemAvailable, the kernel's own
// estimate (Documentation/filesystems/proc.rst).
func available() (int64, error) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("asking for the available memory: %w", err)
	}
	return parseAvailable(data)
}

func parseAvailable(meminfo []byte) (int64, error) {
	for lines := bufio.NewScanner(bytes.NewReader(meminfo)); lines.Scan(); {
		if words := bytes.Fields(lines.Bytes()); len(words) == 3 && string(words[0]) == "MemAvailable:" {
			kib, err := strconv.ParseInt(string(words[1]), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading the available memory: %w", err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("/proc/meminfo does not tell MemAvailable")
}
