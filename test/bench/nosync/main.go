// Command nosync runs a program whose writes are never made durable: fsync and its kin succeed and do nothing. It makes
// a mutant of any program without a line of test code in that program.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// number is where the kernel shows a filter the number of the system call (struct seccomp_data).
const number = 0

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: nosync PROGRAM [ARGUMENT...]")
		os.Exit(2)
	}
	runtime.LockOSThread() // a filter belongs to a thread, and to what that thread becomes
	if err := forget(unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC, unix.SYS_SYNCFS); err != nil {
		fmt.Fprintln(os.Stderr, "nosync:", err)
		os.Exit(1)
	}
	err := syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	fmt.Fprintf(os.Stderr, "nosync: running %s: %v\n", os.Args[1], err)
	os.Exit(1)
}

// forget has the kernel answer these system calls with success, and not carry them out.
func forget(calls ...uint32) error {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number}}
	for i, call := range calls {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jt: uint8(len(calls) - i)})
	}
	program = append(program,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO}, // with error 0
	)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up privileges to come: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0); err != nil {
		return fmt.Errorf("setting the filter: %w", err)
	}
	return nil
}
