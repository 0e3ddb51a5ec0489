package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestANoteFollowsWhatItIsOf: errors.Join calls all that it is given. A note written there is written where what stands before it failed,
// too: settings that could not be read were noted as kept.
func TestANoteFollowsWhatItIsOf(t *testing.T) {
	files, err := filepath.Glob("../../steps/*.go")
	if err != nil || len(files) < 50 {
		t.Fatal(err, len(files))
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			join, ok := n.(*ast.CallExpr)
			if !ok || called(join) != "Join" || len(join.Args) < 2 {
				return true
			}
			for _, arg := range join.Args[1:] {
				if call, ok := arg.(*ast.CallExpr); ok && (strings.EqualFold(called(call), "note") || strings.EqualFold(called(call), "save")) {
					t.Errorf("%s: %s is called within errors.Join: call it alone, when what comes before it went well", fset.Position(call.Pos()), called(call))
				}
			}
			return true
		})
	}
}

// called is the name of the function or method of a call.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}
