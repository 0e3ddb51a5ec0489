package host

import (
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestWhatTheFilterDecides runs the filter as the kernel does, on calls that a process may try which was taken over. TestConfined has the
// kernel's own word for some of them; here are those that no test of this machine can make, such as the calls of another one.
func TestWhatTheFilterDecides(t *testing.T) {
	vm, err := bpf.NewVM(program(calls))
	if err != nil {
		t.Fatal(err)
	}
	own := uint32(os.Getpid())
	eperm, enosys := refused|uint32(unix.EPERM), refused|uint32(unix.ENOSYS)
	const i386, arm64, x32 = 0x40000003, 0xc00000b7, 0x40000000 // linux/audit.h, asm/unistd.h
	for _, c := range []struct {
		what          string
		machine, call uint32
		first, fourth uint32
		want          uint32
	}{
		{"reading", amd64, unix.SYS_READ, 0, 0, allowed},
		{"the end", amd64, unix.SYS_EXIT_GROUP, 0, 0, allowed},
		{"opening", amd64, unix.SYS_OPENAT, 0, 0, eperm},
		{"writing at a place, which was not asked for", amd64, unix.SYS_PWRITE64, 0, 0, eperm},
		{"loosening the filter's own memory", amd64, unix.SYS_PRCTL, 0, 0, eperm},
		{"the ring that makes system calls", amd64, unix.SYS_IO_URING_SETUP, 0, 0, eperm},
		{"a thread", amd64, unix.SYS_CLONE, unix.CLONE_THREAD | unix.CLONE_VM, 0, allowed},
		{"a process", amd64, unix.SYS_CLONE, unix.CLONE_VM, 0, eperm},
		{"a process of another kind", amd64, unix.SYS_FORK, 0, 0, eperm},
		{"a thread whose flags cannot be seen", amd64, unix.SYS_CLONE3, 0, 0, enosys},
		{"a signal to itself", amd64, unix.SYS_TGKILL, own, 0, allowed},
		{"a signal to another process", amd64, unix.SYS_TGKILL, own + 1, 0, eperm},
		{"a signal by the older call", amd64, unix.SYS_KILL, own, 0, eperm},
		{"private memory", amd64, unix.SYS_MMAP, 0, unix.MAP_PRIVATE | unix.MAP_ANON, allowed},
		{"memory to share", amd64, unix.SYS_MMAP, 0, unix.MAP_SHARED | unix.MAP_ANON, eperm},
		{"memory to share, checked", amd64, unix.SYS_MMAP, 0, unix.MAP_SHARED_VALIDATE, eperm},
		{"reading by the number of i386", i386, 3, 0, 0, killed},
		{"reading by the number of arm64", arm64, 63, 0, 0, killed},
		{"reading by the number of x32", amd64, x32 | unix.SYS_READ, 0, 0, eperm},
		{"a call that no kernel has yet", amd64, 1 << 20, 0, 0, eperm},
	} {
		data := make([]byte, 64) // struct seccomp_data; the package's machine reads the words of a network packet, high byte first
		for at, value := range map[int]uint32{callAt: c.call, machineAt: c.machine, firstArg: c.first, fourthArg: c.fourth} {
			binary.BigEndian.PutUint32(data[at:], value)
		}
		if got, err := vm.Run(data); err != nil || uint32(got) != c.want {
			t.Errorf("%s: %#x, want %#x (%v)", c.what, got, c.want, err)
		}
	}
	for n := range slices.Values([]uint32{unix.SYS_OPEN, unix.SYS_OPENAT, unix.SYS_SOCKET, unix.SYS_EXECVE, unix.SYS_PTRACE, unix.SYS_IOCTL, unix.SYS_MOUNT, unix.SYS_SECCOMP}) {
		if slices.Contains(calls, n) {
			t.Errorf("call %d is a way out", n)
		}
	}
}

// TestWritableMemoryIsCounted: the limit begins with what the process has; counted too low, it would fall at once, and too high, it would
// have no limit.
func TestWritableMemoryIsCounted(t *testing.T) {
	before, err := writable()
	if err != nil || before == 0 {
		t.Fatalf("%d bytes, %v", before, err)
	}
	const more = 512 << 20 // beside what the runtime maps meanwhile; it is never touched
	memory, err := unix.Mmap(-1, 0, more, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(memory) }()
	if after, err := writable(); err != nil || after < before+more/2 || after > before+2*more {
		t.Errorf("%d bytes, before %d, %v", after, before, err)
	}
}
