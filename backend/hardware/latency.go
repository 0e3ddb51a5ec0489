package hardware

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/message"
)

// The test writes as assisted-installer-agent has fio write (src/disk_speed_check: --size=22m --bs=2300 --fdatasync=1): blocks of
// the size of an etcd entry, each followed by fdatasync.
const (
	latencyBlock  = 2300
	latencyWrites = (22 << 20) / latencyBlock
	latencyEnough = 30 * time.Second // a disk that is not done by then has failed
	latencyHang   = 20 * time.Second // a write that takes longer is not waited for
	latencyLeast  = 100              // fewer writes have no 99th percentile
	latencyRoom   = 1 << 30          // has to stay free beside the file
)

// latencyLimit is what etcd asks of a disk (etcd.io, "Tuning", "What does the etcd warning mean": fdatasync p99 below 10 ms), and
// assisted-service of a single node (default_hw_requirements.json, sno: installation_disk_speed_threshold_ms 10).
const latencyLimit = 10 * time.Millisecond

// latency is how a disk took the writes.
type latency struct {
	writes   int
	p99, max time.Duration
}

// DiskLatency writes at most 22 MiB for about 30 s where etcd writes, and judges how long each block takes to reach the
// disk. The file never has a name, so that it is gone at the end, and after a power cut.
func DiskLatency(ctx context.Context, m *host.Machine, progress func(done, all int)) check.Check {
	c := latencyCheck()
	folder, l, why := tryDisk(ctx, m, progress)
	if l.writes == 0 {
		return skipped(c, why)
	}
	return l.judge(c, folder)
}

func latencyCheck() check.Check {
	return check.Check{
		ID: "hw-disk-latency", Title: message.T("Disk latency"), Expected: message.F("99 %% of all writes on the disk within %d ms", latencyLimit.Milliseconds()),
		Source: message.T("etcd: fdatasync p99 below 10 ms; " + assisted + ": installation_disk_speed_threshold_ms 10"),
		Fix:    message.T("Use a faster disk for the system: the cluster's database (etcd) loses its leader on a slow one. Repeat the test when nothing else writes."),
	}
}

// tryDisk measures, where the disk has room for it. Without a write it says why there is none.
func tryDisk(ctx context.Context, m *host.Machine, progress func(done, all int)) (folder string, l latency, why message.Text) {
	if folder = latencyFolder(m); folder == "" {
		return "", l, message.T("not checked: the machine has no /var/lib")
	}
	free, err := m.Free(folder)
	if err == nil && free < latencyRoom+latencyBlock*latencyWrites {
		return folder, l, message.F("not checked: %s has only %s free, and the test leaves 1 GiB", folder, gib(free))
	}
	var file *os.File
	if err == nil {
		file, err = host.Scratch(m, folder)
	}
	if err != nil {
		return folder, l, message.F("not checked: %s", message.Detail(err))
	}
	if l, err = measure(ctx, scratch{file}, time.Now, progress); err != nil {
		return folder, latency{}, message.F("not checked: %s", message.Detail(err))
	}
	return folder, l, message.Text{}
}

// latencyFolder is etcd's folder, which can be on a separate disk; without it, the folder in which etcd would make it.
func latencyFolder(m *host.Machine) string {
	for _, folder := range []string{"/var/lib/etcd", "/var/lib"} {
		if m.Exists(folder) {
			return folder
		}
	}
	return ""
}

func (l latency) judge(c check.Check, folder string) check.Check {
	c.Observed = message.F("%s: 99 %% of %d writes within %s, the slowest %s", folder, l.writes, short(l.p99), short(l.max))
	if c.Status = check.Fail; l.p99 < latencyLimit {
		c.Status, c.Fix = check.Pass, message.Text{}
	}
	return c
}

func short(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// syncer takes a block and returns when it is on the disk.
type syncer interface {
	io.WriteCloser
	Sync() error
}

// scratch is the file; fdatasync leaves out what is not needed to read the data again, as etcd does (fileutil.Fdatasync).
type scratch struct{ *os.File }

func (s scratch) Sync() error {
	if err := unix.Fdatasync(int(s.Fd())); err != nil {
		return fmt.Errorf("fdatasync of %s: %w", s.Name(), err)
	}
	return nil
}

// apart writes in a separate goroutine: one write of a disk that hangs cannot be ended, and must hold up nobody else. It closes the
// disk when no more blocks come and the last one was answered.
func apart(disk syncer, blocks <-chan []byte) <-chan error {
	answers := make(chan error, 1) // nobody waits for the answer of a disk that hung
	go func() {
		defer func() { _ = disk.Close() }()
		for block := range blocks {
			_, err := disk.Write(block)
			if err == nil {
				err = disk.Sync()
			}
			answers <- err
		}
	}()
	return answers
}

// measure times each write with its fdatasync, and closes the disk. The one that hangs is the last, and counts as long as it was
// waited for.
func measure(ctx context.Context, disk syncer, now func() time.Time, progress func(done, all int)) (latency, error) {
	block, took := make([]byte, latencyBlock), make([]time.Duration, 0, latencyWrites)
	for n := range block {
		block[n] = byte(n * 7) // not zeros, which some disks do not write
	}
	blocks := make(chan []byte)
	defer close(blocks)
	answers, slow := apart(disk, blocks), 0
	for began := now(); len(took) < latencyWrites; {
		if err := ctx.Err(); err != nil {
			return latency{}, fmt.Errorf("the test was stopped: %w", err)
		}
		before := now()
		if before.Sub(began) > latencyEnough {
			break
		}
		blocks <- block
		select {
		case err := <-answers:
			if err != nil {
				return latency{}, fmt.Errorf("writing to the disk: %w", err)
			}
		case <-ctx.Done():
			return latency{}, fmt.Errorf("the test was stopped: %w", ctx.Err())
		case <-time.After(latencyHang):
			return latency{writes: len(took) + 1, p99: latencyHang, max: latencyHang}, nil
		}
		if took = append(took, now().Sub(before)); len(took)%100 == 1 {
			progress(len(took), latencyWrites)
		}
		if took[len(took)-1] >= latencyLimit {
			slow++
		}
		if slow > latencyWrites/100 { // the others cannot be fast enough any more
			break
		}
	}
	return summary(took)
}

// summary needs some writes; a disk too slow for them has told enough by its slowest one.
func summary(took []time.Duration) (latency, error) {
	if len(took) == 0 {
		return latency{}, message.Failed(message.F("the disk took no write within %s", latencyEnough))
	}
	slices.Sort(took)
	l := latency{writes: len(took), p99: took[len(took)-1], max: took[len(took)-1]}
	if len(took) >= latencyLeast {
		l.p99 = took[(len(took)*99+99)/100-1]
	}
	return l, nil
}
