package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// takeLock takes the lock of a state folder, which the kernel holds for as long as the file is open.
func takeLock(path string) (*os.File, error) {
	f, _, err := openOwn(path, 0)
	if err != nil { // a disk that is full or read-only: what can be read can be locked as well
		f, err = openKept(path, os.O_RDONLY)
	}
	if err != nil {
		f, err = os.Open(filepath.Dir(path))
	}
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		fix := message.T("Attach to it with `touchdown console`.")
		if text, err := readKept(path); err == nil && len(text) > 0 {
			fix = message.F("Attach to it with `touchdown console`; its process id is %s.", strings.TrimSpace(string(text)))
		}
		f.Close()
		return nil, &problem.Problem{
			Code: "ENG-BUSY", Summary: message.T("Another engine is already at work on this node."),
			Fix: fix, Err: fmt.Errorf("locking %s: %w", path, err),
		}
	}
	// The pid only helps a person; the lock itself is the kernel's and ends with the process.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return f, nil
}
