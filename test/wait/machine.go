package wait

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Machine tells how busy this machine is, and which of its processes are the busiest.
func Machine() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d processors, load %s\n", runtime.NumCPU(), first("/proc/loadavg"))
	for _, of := range []string{"cpu", "io", "memory"} {
		if line := first("/proc/pressure/" + of); line != "" {
			fmt.Fprintf(&out, "%s pressure: %s\n", of, line)
		}
	}
	const moment, most = 500 * time.Millisecond, 8
	before := used()
	time.Sleep(moment) // what is measured
	type process struct {
		pid   int
		ticks uint64
	}
	var all []process
	for pid, ticks := range used() {
		if ticks > before[pid] {
			all = append(all, process{pid, ticks - before[pid]})
		}
	}
	slices.SortFunc(all, func(a, b process) int { return int(b.ticks) - int(a.ticks) })
	for _, p := range all[:min(most, len(all))] {
		const ticks = 100 // a second: USER_HZ of every architecture that Go knows
		fmt.Fprintf(&out, "%4.0f%% of a processor: %d %s\n", float64(p.ticks)/ticks/moment.Seconds()*100, p.pid, command(p.pid))
	}
	return strings.TrimRight(out.String(), "\n")
}

// first is the first line of a file; empty where there is none.
func first(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}

// used is the processor time of each process so far, in ticks: utime and stime of proc_pid_stat(5).
func used() map[int]uint64 {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	all := map[int]uint64{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it ended
		}
		// The name, which may hold anything, ends with the last bracket.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || len(fields) < 13 {
			continue
		}
		user, _ := strconv.ParseUint(string(fields[11]), 10, 64)
		system, _ := strconv.ParseUint(string(fields[12]), 10, 64)
		all[pid] = user + system
	}
	return all
}

// command is the beginning of a process's command line, or its name in brackets.
func command(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(data) == 0 {
		return "[" + first(fmt.Sprintf("/proc/%d/comm", pid)) + "]"
	}
	line := strings.TrimSpace(string(bytes.ReplaceAll(data, []byte{0}, []byte(" "))))
	return strings.ToValidUTF8(line[:min(len(line), 110)], "?")
}
