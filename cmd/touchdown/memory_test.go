package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// filePages is how much of the files that are mapped is in memory, in KiB.
func filePages(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(status), "RssFile:")
	if !found {
		t.Fatal("this kernel does not count file pages")
	}
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLetGo(t *testing.T) {
	before := filePages(t)
	letGo()
	if after := filePages(t); after > before*3/4 {
		t.Errorf("%d KiB of files stay in memory, of %d", after, before)
	}
}
