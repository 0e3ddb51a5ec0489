package host

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Limits is what a confined process may use from now on.
type Limits struct {
	CPUSeconds uint64
	Memory     uint64 // bytes of writable memory besides what the process has at this moment
	// Writes is up to which offset it may write to regular files that it has open for that, in bytes; 0: to none but pipes. To a block
	// device it may write up to the device's end: RLIMIT_FSIZE binds regular files alone.
	Writes uint64
}

// Confine takes this process, for good, every way out but the files that it has open: it may read, write and close them, use
// memory and time within limits, and end. It opens nothing, connects to nothing, starts nothing, and cannot reach another
// process. It needs no privileges, but that they were given up (Confined.Run).
func Confine(l Limits) error {
	startThreads()
	has, err := writable()
	if err != nil {
		return fmt.Errorf("confining the process: %w", err)
	}
	// Address space (RLIMIT_AS) is not a measure for a Go program, which reserves far more than it uses. RLIMIT_DATA counts what can be
	// written to.
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_CPU: l.CPUSeconds, unix.RLIMIT_DATA: has + l.Memory,
		unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: l.Writes, unix.RLIMIT_NOFILE: 0,
	} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("confining the process: limit %d: %w", resource, err)
		}
	}
	if l.Writes > 0 {
		return filter(append(slices.Clone(calls), unix.SYS_PWRITE64, unix.SYS_FSYNC))
	}
	return filter(calls)
}

// threads is how many a confined process is given at the beginning. With GOMAXPROCS=1 the runtime needs one for what runs, and one for
// each goroutine that the kernel keeps waiting: the reading, the writing, the timer; on a busy machine it starts more.
const threads = 8

// startThreads has the runtime start its threads, which it keeps for later. The C library gives each a stack of 8 MiB (RLIMIT_STACK). It
// counts as writable memory, though little of it is used: four threads that were started later took all that the process may have.
func startThreads() {
	var begun, ended sync.WaitGroup
	end := make(chan struct{})
	for range threads {
		begun.Add(1)
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			begun.Done()
			<-end
		})
	}
	begun.Wait()
	close(end)
	ended.Wait()
}

// writable is how much writable memory the process has, in bytes.
func writable() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("asking for its memory: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "VmData:" {
			kib, err := strconv.ParseUint(words[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("asking for its memory: %w", err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("/proc/self/status does not tell VmData")
}

// calls are the system calls that a confined process needs: input and output on open files, memory, threads, time, its end.
var calls = []uint32{
	unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_LSEEK, unix.SYS_FSTAT,
	unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// What the kernel does with a call, and where it tells a filter about one (linux/seccomp.h, linux/audit.h).
const (
	allowed = 0x7fff0000
	refused = 0x00050000 // and the error number
	killed  = 0x80000000

	callAt    = 0
	machineAt = 4
	firstArg  = 16
	fourthArg = 40
	amd64     = 0xc000003e
)

// program decides on system calls: those that are named are allowed; a new thread, but no new process; signals to itself; memory of
// its own, as the limit does not count what can be shared; of all others the caller is told that they are not permitted. Another
// machine's calls, which have other numbers, end the process.
func program(calls []uint32) []bpf.Instruction {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: machineAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: amd64, SkipTrue: 1},
		bpf.RetConstant{Val: killed},
		bpf.LoadAbsolute{Off: callAt, Size: 4},
		// The C library starts threads with clone3, whose flags a filter cannot see, or with clone where there is no clone3.
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1},
		bpf.RetConstant{Val: refused | uint32(unix.ENOSYS)},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE, SkipFalse: 3},
		bpf.LoadAbsolute{Off: firstArg, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.CLONE_THREAD, SkipFalse: 1},
		bpf.RetConstant{Val: allowed},
		bpf.LoadAbsolute{Off: callAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_TGKILL, SkipFalse: 3},
		bpf.LoadAbsolute{Off: firstArg, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(os.Getpid()), SkipFalse: 1},
		bpf.RetConstant{Val: allowed},
		bpf.LoadAbsolute{Off: callAt, Size: 4},
	}
	p = append(p,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_MMAP, SkipFalse: 4},
		bpf.LoadAbsolute{Off: fourthArg, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.MAP_SHARED, SkipTrue: 1},
		bpf.RetConstant{Val: allowed},
		bpf.LoadAbsolute{Off: callAt, Size: 4},
	)
	for n := range slices.Values(calls) {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpEqual, Val: n, SkipFalse: 1}, bpf.RetConstant{Val: allowed})
	}
	return append(p, bpf.RetConstant{Val: refused | uint32(unix.EPERM)})
}

// filter puts the program in force for all threads.
func filter(calls []uint32) error {
	raw, err := bpf.Assemble(program(calls))
	if err != nil {
		return fmt.Errorf("confining the process: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	p := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	other, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return fmt.Errorf("confining the process: filtering its system calls: %w", errno)
	}
	if other != 0 {
		return fmt.Errorf("confining the process: thread %d has another filter: %w", other, syscall.EINVAL)
	}
	return nil
}
