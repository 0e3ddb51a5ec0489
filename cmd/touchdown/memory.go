package main

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// letGo gives back what only the start needed: garbage, and pages of the program's own file: the packages of the Kubernetes API touch
// nearly all of it when they are initialised, and a console needs a third afterwards. What is needed again comes back from
// the page cache. It only saves memory, so that its errors are not told.
func letGo() {
	debug.FreeOSMemory()
	areas, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer areas.Close()
	var from, to uint64
	clean := false
	for lines := bufio.NewScanner(areas); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) < 2:
		case !strings.HasSuffix(words[0], ":"): // "00400000-0140f000 r-xp 00000000 08:01 1234 /usr/bin/touchdown" begins an area
			from, to = bounds(words[0])
			clean = len(words) > 5 && words[5][0] == '/' && !strings.Contains(words[1], "w")
		case words[0] == "Anonymous:" || words[0] == "Swap:":
			// Pages that differ from the file, as those that a dynamic linker relocated, have no other copy.
			clean = clean && words[1] == "0"
		case words[0] == "VmFlags:" && clean: // ends an area
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED)
		}
	}
}

// bounds reads "00400000-0140f000".
func bounds(area string) (from, to uint64) {
	a, b, _ := strings.Cut(area, "-")
	from, err1 := strconv.ParseUint(a, 16, 64)
	to, err2 := strconv.ParseUint(b, 16, 64)
	if err1 != nil || err2 != nil {
		return 0, 0
	}
	return from, to
}
