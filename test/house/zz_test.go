package main
import ("testing";"fmt";"go/parser";"go/token";"go/ast";"go/types";"path/filepath";"strings")
func TestZZ(t *testing.T){
 a,_:=drawn("../../steps")
 reach:=func(f string)map[string]bool{ r:=map[string]bool{}; var v func(string); v=func(x string){ for y:=range a[x]{ if !r[y]{r[y]=true; v(y)}}}; v(f); return r}
 R:=map[string]map[string]bool{}; for f:=range a{R[f]=reach(f)}
 paths,_:=filepath.Glob("../../steps/*.go"); fset:=token.NewFileSet(); var files []*ast.File
 for _,p:=range paths{ if strings.HasSuffix(p,"_test.go"){continue}; f,_:=parser.ParseFile(fset,p,nil,0); files=append(files,f)}
 info:=&types.Info{Uses:map[*ast.Ident]types.Object{}}; c:=types.Config{Importer:foreign{},Error:func(error){}}; p,_:=c.Check("x",fset,files,info)
 seen:=map[string]bool{}
 for id,o:=range info.Uses{ if o.Pkg()!=p||!o.Pos().IsValid(){continue}
  from,to:=filepath.Base(fset.Position(id.Pos()).Filename),filepath.Base(fset.Position(o.Pos()).Filename)
  if from!=to&&R[to][from]{ k:=from+" -> "+to+"  "+o.Name(); if !seen[k]{seen[k]=true; fmt.Println(k)}}}
}
