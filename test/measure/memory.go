package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// used is the memory of a process in MiB, as the kernel counts it. Pages of the program's file are in memory once, for all processes that
// map them, and the kernel takes them back when it needs memory.
type used struct {
	all, own, file float64
}

// resident reads the memory of a process.
func resident(pid int) (u used, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return used{}, err
	}
	into := map[string]*float64{"VmRSS:": &u.all, "RssAnon:": &u.own, "RssFile:": &u.file}
	found := 0
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) < 2 || into[words[0]] == nil {
			continue
		}
		kib, err := strconv.ParseFloat(words[1], 64)
		if err != nil {
			return used{}, fmt.Errorf("%s %w", words[0], err)
		}
		*into[words[0]] = kib / 1024
		found++
	}
	if found != len(into) {
		return used{}, fmt.Errorf("the kernel tells too little of process %d", pid)
	}
	return u, nil
}

// atRest is the memory of a process once it has not fallen for a while.
func atRest(pid int, pause, limit time.Duration) (used, error) {
	least, err := resident(pid)
	since := time.Now()
	for end := time.Now().Add(limit); err == nil && time.Since(since) < pause && time.Now().Before(end); time.Sleep(time.Second) {
		var now used
		if now, err = resident(pid); now.all < least.all-0.5 {
			least, since = now, time.Now()
		}
	}
	return least, err
}

// fromDisk is a copy of a program that is not in the page cache, as after a boot. A file that was just written lies
// there in pieces of 2 MiB on some file systems, and the kernel counts the whole of each piece to whoever touches a byte of it: 18 MiB more
// for a console. Where the folder is not a disk, the copy is as the program was.
func fromDisk(program, dir string) (string, error) {
	from, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer from.Close()
	path := filepath.Join(dir, filepath.Base(program))
	to, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	err = errors.Join(err, to.Sync(), unix.Fadvise(int(to.Fd()), 0, 0, unix.FADV_DONTNEED), to.Close())
	return path, err
}

// emptyProgram is the memory of a Bubble Tea program that does nothing.
func emptyProgram(path, dir string) (used, error) {
	path, err := fromDisk(path, dir)
	if err != nil {
		return used{}, fmt.Errorf("the empty program (make .cache/bench/bin/empty): %w", err)
	}
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), "TERM=vt220")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return used{}, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
		_ = cmd.Wait()
	}()
	if _, err := tty.Read(make([]byte, 4096)); err != nil { // its first picture
		return used{}, err
	}
	go func() { _, _ = io.Copy(io.Discard, tty) }()
	time.Sleep(3 * time.Second) // what comes up with the first picture
	return resident(cmd.Process.Pid)
}
