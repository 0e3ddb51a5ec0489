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
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"touchdown/backend/message"
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
	found := map[string][]string{message.Technical: {"../backend/message/detail.go"}}
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
					return fmt.Errorf("%s: this message is not a constant of its package", files.Position(arg.Pos()))
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

// englishData is a word with a blank beside it in a string literal; a layout of time.Format, a file's name and a key have none.
var englishData = regexp.MustCompile(` [a-z]{2,}|[a-z]{2,} `)

// TestDataHasNoWords: what message.Data is given comes from the machine, the site or another program. A sentence of the program stands
// in message.T or message.F, which a catalogue can translate.
func TestDataHasNoWords(t *testing.T) {
	for _, root := range []string{"../backend", "../cmd", "../steps", "."} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return fmt.Errorf("reading %s: %w", path, err)
			}
			for _, found := range wordsInData(parsed) {
				t.Errorf("%s: message.Data(%s): no language can translate it", files.Position(found.Pos()), found.Value)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sample, err := parser.ParseFile(token.NewFileSet(), "sample.go", `package p; var a, b = message.Data(f(n, "no cable")), message.Data("a "+b)`, 0)
	if err != nil || len(wordsInData(sample)) != 1 {
		t.Errorf("found %v in a sample, %v", wordsInData(sample), err)
	}
}

// wordsInData are the literals with words below a call of message.Data. Texts and the keys of the console's own have been translated.
func wordsInData(file *ast.File) (found []*ast.BasicLit) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || types.ExprString(call.Fun) != "message.Data" {
			return true
		}
		ast.Inspect(call, func(n ast.Node) bool {
			if inner, ok := n.(*ast.CallExpr); ok && types.ExprString(inner.Fun) == "t" {
				return false
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && englishData.MatchString(strings.Trim(lit.Value, "\"`")) {
				found = append(found, lit)
			}
			return true
		})
		return false
	})
	return found
}
