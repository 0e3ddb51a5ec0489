package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestEveryCheckOfTheSourcesIsKnown: --waive refuses a check that Touchdown does not have, and no other.
func TestEveryCheckOfTheSourcesIsKnown(t *testing.T) {
	found := 0
	for _, dir := range []string{"../../backend", "../../steps"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			for _, id := range checkIDs(file) {
				found++
				begins := func(known string) bool { return strings.HasPrefix(known, id) }
				if !slices.ContainsFunc(checksOfTouchdown(), begins) && !slices.Contains(ofParts, id) {
					t.Errorf("%s: the check %s is not among those that --waive knows", path, id)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 100 {
		t.Errorf("only %d checks found in the sources", found)
	}
}

// checkIDs are the IDs of the checks in a file, or how they begin.
func checkIDs(file *ast.File) (ids []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		of, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		keys := map[string]ast.Expr{}
		for _, e := range of.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok {
					keys[key.Name] = kv.Value
				}
			}
		}
		if keys["ID"] == nil || keys["Title"] == nil || keys["Steps"] != nil {
			return true
		}
		ast.Inspect(keys["ID"], func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if ok && lit.Kind == gotoken.STRING {
				if id, err := strconv.Unquote(lit.Value); err == nil && id[0] >= 'a' {
					id, _, _ = strings.Cut(id, "%")
					ids = append(ids, id)
				}
			}
			return !ok
		})
		return true
	})
	return ids
}

// TestWaiverOfNoCheck: a --waive that would count for nothing is a wrong command line, and the engine is left alone; one that many nodes
// share may name a check that passed here, or that this node does not have.
func TestWaiverOfNoCheck(t *testing.T) {
	for waiver, says := range map[string]string{
		"hw-dsk-type=x":          "--waive hw-dsk-type: there is no check of this name; did you mean hw-disk-type?",
		"nonsense=x":             "--waive nonsense: there is no check of this name",
		"net-dns-=x":             "--waive net-dns-: there is no check of this name",
		"wiring-=x":              "--waive wiring-: there is no check of this name",
		"hw-shipped-disk-12ab=x": "--waive hw-shipped-disk-12ab: there is no check of this name",
		"=lab":                   "--waive =lab: give CHECK=REASON",
		"hw-cpu=":                "--waive hw-cpu=: give CHECK=REASON",
		"hw-cpu= ":               "give CHECK=REASON",
		"hw-cpu=a\nb":            "one line each",
		"hw-disk-type=x":         "",
		"net-dns-2=x":            "",
		"images-inspect=x":       "",
		"net-router-ipv6=x":      "",
	} {
		for _, line := range [][]string{
			{"apply", "-f", "../../test/sites/store.yaml", "--dry-run"},
			{"certificates", "replace", "--api-cert", "no-file", "--api-key", "no-file"},
		} {
			e := &endsBadly{now: view.Collecting, ends: view.HasFailed}
			code, said := served(t, e, &bytes.Buffer{}, append(line, "--waive", waiver, "--by", "Bob")...)
			switch {
			case says == "" && line[0] == "apply" && code != exitOK:
				t.Errorf("%s %s: exit %d: %s", line[0], waiver, code, said)
			case says == "" || line[0] != "apply" && strings.HasPrefix(waiver, "hw-shipped-"): // the node would have to be asked
			case code != exitUsage || !strings.Contains(said, says) || slices.Contains(e.did, session.Review):
				t.Errorf("%s %s: exit %d, did %q: %s", line[0], waiver, code, e.did, said)
			}
		}
	}
	e := &endsBadly{now: view.Collecting, ends: view.HasFailed}
	if code, said := served(t, e, &bytes.Buffer{}, "apply", "-f", "../../test/sites/store.yaml", "--dry-run", "--waive", "hw-cpu=x", "--by", " "); code != exitUsage || e.loaded > 0 {
		t.Errorf("nobody waives: exit %d: %s", code, said)
	}
}
