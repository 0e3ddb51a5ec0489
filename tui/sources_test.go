package tui

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// messages are the English formats of all messages that the program makes, each with the places that make it, read from the source.
func messages(t *testing.T) map[string][]string {
	t.Helper()
	found, err := readMessages()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var readMessages = sync.OnceValues(func() (map[string][]string, error) {
	found := map[string][]string{}
	for _, root := range []string{"../backend", "../cmd", "../steps", "."} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() == "testdata" {
				return err
			}
			return messagesOf(path, found)
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
})

// messagesOf adds the messages of the package in a folder. Nothing that the package imports is read: what message.T and its
// siblings are given has to be known from the package alone.
func messagesOf(folder string, found map[string][]string) error {
	files := token.NewFileSet()
	parsed, err := parser.ParseDir(files, folder, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		return fmt.Errorf("reading %s: %w", folder, err)
	}
	for _, p := range parsed {
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		config := types.Config{Importer: nothing{}, Error: func(error) {}}
		list := slices.Collect(maps.Values(p.Files))
		_, _ = config.Check(folder, files, list, info) // what is missing is what was not imported
		for _, file := range list {
			for arg, text := range formats(file) {
				value := info.Types[arg].Value
				if value == nil || value.Kind() != constant.String {
					return fmt.Errorf("%s: this message is no constant of its package", files.Position(arg.Pos()))
				}
				id := constant.StringVal(value)
				if text {
					id = strings.ReplaceAll(id, "%", "%%")
				}
				found[id] = append(found[id], files.Position(arg.Pos()).String())
			}
		}
	}
	return nil
}

// nothing imports nothing.
type nothing struct{}

var _ types.Importer = nothing{}

func (nothing) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("%s is not read", path)
}

// formats are the arguments in a file that are English formats: the first of message.F, two of message.N; and those that are a
// text without verbs, the first of message.T.
func formats(file *ast.File) map[ast.Expr]bool {
	all := map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch types.ExprString(call.Fun) {
		case "message.T":
			all[call.Args[0]] = true
		case "message.F":
			all[call.Args[0]] = false
		case "message.N":
			all[call.Args[1]], all[call.Args[2]] = false, false
		}
		return true
	})
	return all
}
