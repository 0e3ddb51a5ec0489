package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// shared is what every test on the bench rests on besides its own packages: the bench with its nested modules, what is
// laid on the node, and how all of it is built. What lays the program onto a node, and what make runs, rests on the program as well; any other test
// rests on what it imports.
var shared = []string{"Makefile", "go.mod", "go.sum", "test/bench", "iso-overlay", "assets", "backend/network/libnmstate", "test/sites"}

// listed is what `go list` tells of a package.
type listed struct {
	ImportPath, Dir                                                          string
	Standard                                                                 bool
	Deps                                                                     []string
	GoFiles, CgoFiles, CFiles, HFiles, EmbedFiles, TestGoFiles, XTestGoFiles []string
}

// keys fingerprints the inputs of each package's tests: the sources of the test, of the program that is put on the node and
// of the bench, and the toolchain. What a commit's name or a file's time says plays no part.
type keys struct {
	toolchain []byte
	base      []byte // what all share
	program   []byte // what is put on a node
	packages  map[string]listed
	files     map[string][]byte // hashes of folders
}

func newKeys(ctx context.Context, packages []string) (*keys, error) {
	k := &keys{packages: map[string]listed{}}
	args := append([]string{
		"list", "-deps", "-test", "-json=ImportPath,Dir,Standard,Deps,GoFiles,CgoFiles,CFiles,HFiles,EmbedFiles,TestGoFiles,XTestGoFiles",
		"./cmd/touchdown",
	}, packages...)
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", withOutput(err))
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		k.packages[p.ImportPath] = p
	}
	version, err := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOFLAGS").Output()
	if err != nil {
		return nil, fmt.Errorf("asking for the toolchain: %w", withOutput(err))
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return nil, fmt.Errorf("asking for the kernel: %w", err)
	}
	k.toolchain = append(version, kernel...)
	return k.again()
}

// again reads the same files another time.
func (k *keys) again() (*keys, error) {
	k = &keys{toolchain: k.toolchain, packages: k.packages, files: map[string][]byte{}}
	sum := sha256.New()
	sum.Write(k.toolchain)
	for _, path := range shared {
		if err := hashTree(sum, path); err != nil {
			return nil, err
		}
	}
	k.base = sum.Sum(nil)
	program := sha256.New()
	if err := k.sources(program, "touchdown/cmd/touchdown"); err != nil {
		return nil, err
	}
	k.program = program.Sum(nil)
	return k, nil
}

// of is the fingerprint of one row of the table.
func (k *keys) of(r Row) (string, error) {
	sum := sha256.New()
	sum.Write(k.base)
	if r.usesProgram() {
		sum.Write(k.program)
	}
	out := ""
	if r.Make == "" {
		var err error
		if out, err = r.leftOut(".", table); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(sum, "%q %q %q %q %q", r.Package, r.Run, r.Env, r.Make, out)
	if r.Make != "" {
		// A target of make may use anything of the tree.
		if err := k.everything(sum); err != nil {
			return "", err
		}
	} else if err := k.sources(sum, "touchdown/"+r.Package+".test"); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil))[:20], nil
}

// ofAll are the fingerprints of several rows, by their names.
func (k *keys) ofAll(rows []Row) (map[string]string, error) {
	all := map[string]string{}
	for _, r := range rows {
		key, err := k.of(r)
		if err != nil {
			return nil, err
		}
		all[r.String()] = key
	}
	return all, nil
}

// onNodes is a row of all that a package's tests on nodes rest on, the program among it.
func onNodes(pkg string) Row { return Row{Package: pkg, Boots: true, Program: true} }

func printKey(ctx context.Context, r Row) error {
	k, err := newKeys(ctx, packagesOf([]Row{r}))
	if err != nil {
		return err
	}
	key, err := k.of(r)
	if err == nil {
		fmt.Println(key)
	}
	return err
}

// sources hashes the sources of a package and of all that it is made of, those of other modules by go.sum alone.
func (k *keys) sources(sum io.Writer, path string) error {
	p, ok := k.packages[path]
	if !ok {
		return fmt.Errorf("go list does not know %s", path)
	}
	seen := map[string]bool{}
	for _, path := range append([]string{p.ImportPath}, p.Deps...) {
		path, _, _ = strings.Cut(path, " ")
		path = strings.TrimSuffix(path, ".test")
		path = strings.TrimSuffix(path, "_test")
		d := k.packages[path]
		if d.Standard || !strings.HasPrefix(path, "touchdown/") || seen[path] {
			continue
		}
		seen[path] = true
		hash, err := k.folder(d)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %x\n", path, hash)
	}
	return nil
}

func (k *keys) folder(p listed) ([]byte, error) {
	if hash, ok := k.files[p.ImportPath]; ok {
		return hash, nil
	}
	sum := sha256.New()
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.CFiles, p.HFiles, p.EmbedFiles, p.TestGoFiles, p.XTestGoFiles) {
		if err := hashFile(sum, filepath.Join(p.Dir, name), name); err != nil {
			return nil, err
		}
	}
	testdata := filepath.Join(p.Dir, "testdata")
	if _, err := os.Stat(testdata); err == nil {
		if err := hashTree(sum, testdata); err != nil {
			return nil, err
		}
	}
	k.files[p.ImportPath] = sum.Sum(nil)
	return k.files[p.ImportPath], nil
}

// sources are the folders that the repository is made of. The root itself also has .git, which every look at its state changes.
var sources = []string{"assets", "backend", "cmd", "iso-overlay", "steps", "test", "tui"}

func (k *keys) everything(sum io.Writer) error {
	for _, path := range append(slices.Clone(sources), ".golangci.yml") { // of the root's own files, what make lint rests on
		if err := hashTree(sum, path); err != nil {
			return err
		}
	}
	return nil
}

// hashTree hashes a file, or all files of a folder with their names and modes.
func hashTree(sum io.Writer, root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(filepath.Dir(root), path)
		if err != nil {
			return err
		}
		return hashFile(sum, path, name)
	})
}

func hashFile(sum io.Writer, path, name string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	data := []byte(nil)
	if info.Mode()&fs.ModeSymlink != 0 {
		link, err := os.Readlink(path)
		if err != nil {
			return err
		}
		data = []byte(link)
	} else if data, err = os.ReadFile(path); err != nil {
		return err
	}
	fmt.Fprintf(sum, "%s %o %d\n", name, info.Mode().Perm()&0o111, len(data))
	_, err = sum.Write(data)
	return err
}

// withOutput adds what a command complained about.
func withOutput(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}
