package burnin

import (
	"context"
	"encoding/binary"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/message"
)

// diskBlock is what one request writes or reads, in bytes. Only one is under way at a time.
const diskBlock = 1 << 20

// disker is the test of the disk: a file without a name is written, and read back past the page cache.
type disker struct {
	file   *os.File
	size   int64 // of the file, in bytes
	writes int64 // bytes that may be written in all
	books  *books
}

// run writes and reads until ctx ends. What may be written in all is bounded, for the sake of the disk's life: after that it only reads.
func (d *disker) run(ctx context.Context) {
	runtime.LockOSThread() // which has the lowest priority from now on
	_ = yield()            // what paces it below holds all the same
	block, err := unix.Mmap(-1, 0, diskBlock, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil { // O_DIRECT wants memory on the border of a page
		d.books.diskEnds(message.F("getting memory for it: %s", err))
		return
	}
	defer func() { _ = unix.Munmap(block) }()
	d.bypass()
	written, pass := int64(0), uint64(0)
	for ctx.Err() == nil {
		if pass == 0 || written+d.size <= d.writes {
			pass++
			if err = d.write(ctx, block, pass); err == nil {
				written += d.size
			}
		}
		if err == nil {
			err = d.read(ctx, block, pass)
		}
		if err != nil {
			if ctx.Err() == nil {
				d.books.wrong(kindDisk, message.Detail(err))
				d.books.diskEnds(message.Detail(err))
			}
			return
		}
	}
}

// bypass has requests go past the page cache, where the file system can do that.
func (d *disker) bypass() {
	flags, err := unix.FcntlInt(d.file.Fd(), unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(d.file.Fd(), unix.F_SETFL, flags|unix.O_DIRECT)
	}
	d.books.keep(func(t *Tally) { t.Direct = err == nil })
}

// write fills the file, each block with what only this block of this pass has.
func (d *disker) write(ctx context.Context, block []byte, pass uint64) error {
	for at := int64(0); at < d.size; at += diskBlock {
		began := time.Now()
		stamp(block, pass, at)
		if _, err := d.file.WriteAt(block, at); err != nil {
			return message.Doing(message.F("writing block %d", at/diskBlock), err)
		}
		d.books.keep(func(t *Tally) { t.Written += diskBlock })
		if err := rest(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	if err := unix.Fdatasync(int(d.file.Fd())); err != nil {
		return message.Doing(message.T("writing to the disk"), err)
	}
	// Without O_DIRECT this is what makes the next read one of the disk.
	_ = unix.Fadvise(int(d.file.Fd()), 0, 0, unix.FADV_DONTNEED)
	return ctx.Err()
}

// read compares the file with what was written.
func (d *disker) read(ctx context.Context, block []byte, pass uint64) error {
	for at := int64(0); at < d.size; at += diskBlock {
		began := time.Now()
		if n, err := d.file.ReadAt(block, at); err != nil {
			return message.Doing(message.F("reading block %d back (%d bytes came)", at/diskBlock, n), err)
		}
		if d.books.tamper.disk != nil {
			d.books.tamper.disk(block)
		}
		if wrong := differs(block, pass, at); wrong >= 0 {
			d.books.wrong(kindDisk, message.F("block %d of the file differs from what was written, at byte %d; pass %d", at/diskBlock, wrong, pass))
		}
		d.books.keep(func(t *Tally) { t.Read += diskBlock })
		if err := rest(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	_ = unix.Fadvise(int(d.file.Fd()), 0, 0, unix.FADV_DONTNEED)
	return nil
}

// rest leaves the disk to others for as long as a request took: half of the time it has nothing to do for us.
func rest(ctx context.Context, took time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(took, time.Second)):
		return nil
	}
}

func stampAt(pass uint64, at int64, i int) uint64 {
	return scattered(pass<<48 ^ uint64(at) + uint64(i))
}

func stamp(block []byte, pass uint64, at int64) {
	for i := 0; i < len(block); i += 8 {
		binary.LittleEndian.PutUint64(block[i:], stampAt(pass, at, i))
	}
}

// differs is at which byte a block is not as it was written, -1 where it is.
func differs(block []byte, pass uint64, at int64) int {
	for i := 0; i < len(block); i += 8 {
		if binary.LittleEndian.Uint64(block[i:]) != stampAt(pass, at, i) {
			return i
		}
	}
	return -1
}
