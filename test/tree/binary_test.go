package tree

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"touchdown/test/wait"
)

// binary is what `make build` leaves, as it is laid on a node.
const binary = "../../.cache/bin/touchdown"

// glibc is the newest minor version of glibc 2 whose symbols the program may ask for: RHEL 9's, which every supported
// node has or is newer than.
const glibc = 34

// onEveryNode are the shared libraries without which no RHEL starts a program.
var onEveryNode = []string{"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}

// largest is how large the program may be, in bytes: it goes through media of service processors and slow lines. The goal is 60 MiB. Ten
// are the types of all groups of Kubernetes' API: openshift/client-go imports client-go/discovery, and that kubernetes/scheme.
const largest = 68 << 20

// demands tells what a program asks of the node that a RHEL 9 may not have. A static program asks for nothing.
func demands(f *elf.File) ([]string, error) {
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("reading the libraries: %w", err)
	}
	var found []string
	for _, name := range libraries {
		if !slices.Contains(onEveryNode, name) {
			found = append(found, "library "+name)
		}
	}
	needs, err := f.DynamicVersionNeeds()
	if errors.Is(err, elf.ErrNoSymbols) {
		return found, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the versions of symbols: %w", err)
	}
	for _, library := range needs {
		for _, v := range library.Needs {
			if tooNew(v.Dep) {
				found = append(found, v.Dep+" of "+library.Name)
			}
		}
	}
	return found, nil
}

// tooNew tells whether a version such as GLIBC_2.38 or GLIBC_2.2.5 is not in RHEL 9's glibc. GLIBC_PRIVATE is of one glibc
// alone.
func tooNew(version string) bool {
	rest, ours := strings.CutPrefix(version, "GLIBC_")
	if !ours {
		return false
	}
	major, rest, _ := strings.Cut(rest, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return major != "2" || err != nil || n > glibc
}

// TestBinaryStartsOnAnyNode reads the built program: it needs nothing of the node that RHEL 9 does not have.
func TestBinaryStartsOnAnyNode(t *testing.T) {
	f, err := elf.Open(binary)
	if errors.Is(err, fs.ErrNotExist) {
		wait.Unable(t, "there is no %s; make build makes it", binary)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err := demands(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("the program asks the node for %s", strings.Join(found, ", "))
	}
	if f.Machine != elf.EM_X86_64 {
		t.Errorf("the program is for %s", f.Machine)
	}
	if info, err := os.Stat(binary); err != nil || info.Size() > largest {
		t.Errorf("the program has %.1f MiB, more than %d (%v): go tool nm -size -sort size tells what it is made of, without -s -w",
			float64(info.Size())/(1<<20), largest>>20, err)
	}
}

// TestDemandsAreSeen: what links to a shared library is told from what does not.
func TestDemandsAreSeen(t *testing.T) {
	for version, want := range map[string]bool{
		"GLIBC_2.2.5": false, "GLIBC_2.34": false, "GLIBC_2.35": true, "GLIBC_2.38": true, "GLIBC_2.4": false,
		"GLIBC_PRIVATE": true, "GLIBC_3.0": true, "GCC_3.0": false,
	} {
		if got := tooNew(version); got != want {
			t.Errorf("%s is too new: %v", version, got)
		}
	}
	path := wait.Program(t, "systemctl") // links to systemd's own library
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if found, err := demands(f); err != nil || len(found) == 0 {
		t.Errorf("%s asks for %q, %v", path, found, err)
	}
}
