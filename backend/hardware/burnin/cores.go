package burnin

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"touchdown/backend/message"
)

// kernels are the works whose result is known: each loads another part of a core (integer and vector units, AES, floating point), and a
// core that computes any of them wrongly is broken.
var kernels = []struct {
	name   message.Text
	answer uint64
	work   func(data []byte) uint64
}{
	{message.T("hash (SHA-256)"), 0xd00963a3f5cd9cb8, hashed},
	{message.T("AES and CRC-32C"), 0x7e05b608, enciphered},
	{message.T("floating point"), 0x37bcda55e70e09ec, floated},
}

const kernelBytes = 256 << 10 // fits the cache of a core (L2) that RHEL 9 runs on

// kernelData is what they work on: the same on every machine.
func kernelData() []byte {
	data := make([]byte, kernelBytes)
	for i := 0; i < len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], scattered(uint64(i)))
	}
	return data
}

// scattered gives each number another one, all of whose bits differ from one to the next (splitmix64).
func scattered(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

func hashed(data []byte) uint64 {
	sum := sha256.Sum256(data)
	return binary.LittleEndian.Uint64(sum[:])
}

func enciphered(data []byte) uint64 {
	block, err := aes.NewCipher(data[:32])
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	out := make([]byte, len(data))
	cipher.NewCTR(block, data[32:48]).XORKeyStream(out, data)
	return uint64(crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli)))
}

// floated follows a chaotic sequence, in which one wrong bit changes all that comes behind it. Each operation is rounded on its own, so
// that all machines agree.
func floated(data []byte) uint64 {
	x, sum := 0.3, uint64(0)
	for i := range len(data) / 4 {
		x = float64(float64(3.99*x) * float64(1-x))
		sum = bits.RotateLeft64(sum, 7) ^ math.Float64bits(math.Sqrt(x)) + uint64(i)
	}
	return sum
}

// memoryBlock is how much memory is written or read between two works of the CPU, in bytes.
const memoryBlock = 4 << 20

// patterns are what each word of the memory holds in turn: bits that are all the same, that alternate, and that tell where they belong.
var patterns = []func(at uint64) uint64{
	func(uint64) uint64 { return 0 },
	func(uint64) uint64 { return math.MaxUint64 },
	func(uint64) uint64 { return 0xaaaaaaaaaaaaaaaa },
	func(uint64) uint64 { return 0x5555555555555555 },
	scattered,
	func(at uint64) uint64 { return ^scattered(at) },
}

// core works on one CPU: it computes, and between two computations writes or reads back a block of its share of the memory.
type core struct {
	cpu   int
	share int64 // bytes of memory
	data  []byte
	books *books
}

// run works until ctx ends. The thread is not used again: it is bound to the CPU and has the lowest priority.
func (c *core) run(ctx context.Context, tight *atomic.Bool) {
	runtime.LockOSThread()
	if err := yield(); err != nil {
		c.books.unloaded(c.cpu, err)
	}
	var set unix.CPUSet
	set.Set(c.cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil { // a cpuset leaves it out
		c.books.unloaded(c.cpu, message.Doing(message.T("binding a thread to it"), err))
		return
	}
	memory := c.take()
	defer func() { c.drop(memory) }()
	for pass := 0; ctx.Err() == nil; pass++ {
		if tight.Load() {
			c.drop(memory)
			memory = nil
		}
		if memory == nil {
			c.compute()
			continue
		}
		pattern := patterns[pass%len(patterns)]
		if c.each(ctx, tight, memory, func(at uint64, block []uint64) { fill(at, block, pattern) }) &&
			c.each(ctx, tight, memory, func(at uint64, block []uint64) { c.compare(at, block, pattern, pass) }) {
			c.books.pass(c.cpu)
		}
	}
}

// take gets the share of the memory; it is the kernel's own, so that no garbage collector works on it.
func (c *core) take() []byte {
	if c.share < memoryBlock {
		return nil
	}
	memory, err := unix.Mmap(-1, 0, int(c.share), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		c.books.memoryEnds(message.F("getting %d MiB of it: %s", c.share>>20, err))
		return nil
	}
	return memory
}

func (c *core) drop(memory []byte) {
	if memory != nil {
		_ = unix.Munmap(memory)
	}
}

// each goes over the memory block by block, and tells whether it came to its end.
func (c *core) each(ctx context.Context, tight *atomic.Bool, memory []byte, do func(at uint64, block []uint64)) bool {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&memory[0])), len(memory)/8)
	for at := 0; at < len(words); at += memoryBlock / 8 {
		if ctx.Err() != nil || tight.Load() {
			return false
		}
		do(uint64(at), words[at:min(len(words), at+memoryBlock/8)])
		c.compute()
	}
	return true
}

func fill(at uint64, block []uint64, pattern func(uint64) uint64) {
	for i := range block {
		block[i] = pattern(at + uint64(i))
	}
}

// compare reads a block back. Words that differ in a block are one fault, told by the first of them.
func (c *core) compare(at uint64, block []uint64, pattern func(uint64) uint64, pass int) {
	if c.books.tamper.memory != nil {
		c.books.tamper.memory(c.cpu, block)
	}
	wrong, first := 0, message.Text{}
	for i, got := range block {
		if want := pattern(at + uint64(i)); got != want {
			if wrong++; wrong == 1 {
				first = message.F("byte %d of the %d of CPU %d: wrote %s, read %s", 8*(at+uint64(i)), c.share, c.cpu, hex(want), hex(got))
			}
		}
	}
	c.books.compared(int64(len(block)) * 8)
	if wrong > 0 {
		c.books.wrong(kindMemory, message.F("%s; %d words of this block, pass %d", first, wrong, pass+1))
	}
}

// compute does each of the works once and compares the result.
func (c *core) compute() {
	for _, k := range kernels {
		got := k.work(c.data)
		if c.books.tamper.cpu != nil {
			got = c.books.tamper.cpu(c.cpu, got)
		}
		if got != k.answer {
			c.books.wrong(kindCPU, message.F("CPU %d: %s gave %s instead of %s", c.cpu, k.name, hex(got), hex(k.answer)))
		}
	}
	c.books.round(c.cpu)
}

// hex is a word of 64 bits as people compare it.
func hex(word uint64) string { return fmt.Sprintf("%016x", word) }

// yield gives this thread the lowest priority, of the CPU and of the disk (linux/ioprio.h: who a thread, class idle).
func yield() error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, 19); err != nil {
		return message.Doing(message.T("lowering its priority"), err)
	}
	const process, idle = 1, 3 << 13
	if _, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, process, 0, idle); errno != 0 {
		return message.Doing(message.T("lowering its priority at the disk"), errno)
	}
	return nil
}
