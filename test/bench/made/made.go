// Package made fingerprints what the prepared disks of the bench are made from, so that each is made once per content. What takes no part,
// like the console, may change without a disk that is made again.
package made

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Parts are sources, by their paths in the checkout.
type Parts struct {
	Packages []string // with all packages of the program that they import
	Files    []string // patterns of filepath.Glob; tests are left out
}

// Installed is what lays an installed node on its disk, besides packages and layer.
var Installed = Parts{Files: []string{"test/bench/node/installed.go", "test/bench/node/disk.go", "test/bench/node/boot.go"}}

// Stocked is what fills the store of an installed node, besides the images.
var Stocked = Parts{Files: []string{"test/bench/node/stock.go"}}

// Baked is what decides over the result of a bake: its commands, its steps with what they call, and the runner of steps. Steps and
// commands have many other files in their packages, so that theirs are named.
var Baked = Parts{
	Packages: []string{
		"backend", "backend/check", "backend/factory", "backend/factory/second", "backend/images", "backend/kubelet", "backend/nodeconfig",
	},
	Files: []string{
		"go.mod", "assets/machineconfigs/*.yaml",
		"cmd/touchdown/benchline.go", "cmd/touchdown/factory.go", "cmd/touchdown/images.go", "cmd/touchdown/images_store.go",
		"steps/bake*.go", "steps/catalogs.go", "steps/consolelock.go", "steps/factory.go", "steps/images.go", "steps/engine/*.go",
		"test/bench/node/factory.go",
	},
}

// Key fingerprints the sources below the root of a checkout, and what else takes part: names of folders that are named by their contents.
func (p Parts) Key(root string, folders ...string) (string, error) {
	files, err := p.Sources(root)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q\n", folders)
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", fmt.Errorf("reading what a disk is made from: %w", err)
		}
		fmt.Fprintln(sum, name, len(data))
		_, _ = sum.Write(data) // a hash takes all
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}

// Sources are the names of all files that take part, in order. A pattern without a file is an error: what it meant was moved.
func (p Parts) Sources(root string) ([]string, error) {
	files := map[string]bool{}
	seen := map[string]bool{}
	for _, pkg := range p.Packages {
		if err := addPackage(files, seen, root, pkg); err != nil {
			return nil, err
		}
	}
	for _, pattern := range p.Files {
		if err := addFiles(files, root, pattern); err != nil {
			return nil, err
		}
	}
	var all []string
	for name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all, nil
}

func addPackage(files, seen map[string]bool, root, pkg string) error {
	if seen[pkg] || pkg == "assets" { // holds much else; what of it takes part is named
		return nil
	}
	seen[pkg] = true
	found, err := build.ImportDir(filepath.Join(root, pkg), 0)
	if err != nil {
		return fmt.Errorf("reading what a disk is made from: %w", err)
	}
	for _, name := range slices.Concat(found.GoFiles, found.CgoFiles, found.CFiles, found.HFiles) {
		files[filepath.Join(pkg, name)] = true
	}
	for _, pattern := range found.EmbedPatterns {
		if err := addFiles(files, root, filepath.Join(pkg, strings.TrimPrefix(pattern, "all:"))); err != nil {
			return err
		}
	}
	for _, path := range found.Imports {
		if path, ours := strings.CutPrefix(path, "touchdown/"); ours {
			if err := addPackage(files, seen, root, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// addFiles adds the files of a pattern, and all below where it names a folder.
func addFiles(files map[string]bool, root, pattern string) error {
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err == nil && len(found) == 0 {
		err = os.ErrNotExist
	}
	for _, name := range found {
		if err == nil {
			err = filepath.WalkDir(name, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				below, err := filepath.Rel(root, path)
				files[below] = true
				return err
			})
		}
	}
	if err != nil {
		return fmt.Errorf("looking for %s, which a disk is made from: %w", pattern, err)
	}
	return nil
}
