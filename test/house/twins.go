package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"slices"
)

const (
	window = 6 // lines that two places share to be a pair
	common = 8 // a run of lines that stands in more places than these is the language's, not ours
)

// text is a file as the shapes of its lines: names, numbers and strings count alike.
type text struct {
	name  string
	lines []line
}

type line struct {
	number int
	shape  string
	tokens int
}

// declared are the lines by which a type says what it is, as each step of a list does: that it implements an interface, and a name.
var declared = []string{
	"IDENT = ( * IDENT ) ( IDENT ) ; ",
	"func ( * IDENT ) IDENT ( ) IDENT { return STRING } ; ",
	"func ( IDENT * IDENT ) IDENT ( ) IDENT { return STRING } ; ",
	"func ( * IDENT ) IDENT ( ) IDENT . IDENT { return IDENT . IDENT ( STRING ) } ; ",
}

// shape reads a file. Comments, blank lines, imports, declared lines and lines of punctuation alone are left out.
func shape(name, path string) (text, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return text{}, err
	}
	files := token.NewFileSet()
	file := files.AddFile(path, -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	t := text{name: name}
	for imports := false; ; {
		pos, tok, _ := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.IMPORT {
			imports = true
		}
		if imports {
			imports = tok != token.FUNC && tok != token.TYPE && tok != token.VAR && tok != token.CONST
			if imports {
				continue
			}
		}
		number := file.Line(pos)
		if len(t.lines) == 0 || t.lines[len(t.lines)-1].number != number {
			t.lines = append(t.lines, line{number: number})
		}
		l := &t.lines[len(t.lines)-1]
		l.shape += tok.String() + " "
		if tok.IsKeyword() || tok.IsLiteral() {
			l.tokens++
		}
	}
	t.lines = slices.DeleteFunc(t.lines, func(l line) bool { return l.tokens == 0 || slices.Contains(declared, l.shape) })
	return t, nil
}

// thin is how many words a window of lines has at least; below it stand lists of fields and chains of returns.
const thin = 24

// twins lists the longest run of lines that each two files share, and within a file that two places share.
func twins(texts []text) []sized {
	type place struct{ file, at int }
	places := map[string][]place{}
	for f, t := range texts {
		for at := 0; at+window <= len(t.lines); at++ {
			key, words := "", 0
			for _, l := range t.lines[at : at+window] {
				key += l.shape + "\n"
				words += l.tokens
			}
			if words >= thin {
				places[key] = append(places[key], place{f, at})
			}
		}
	}
	longest := map[[2]int]sized{}
	for _, all := range places {
		if len(all) > common {
			continue
		}
		for i, a := range all {
			for _, b := range all[i+1:] {
				if a.file == b.file && b.at-a.at < window {
					continue
				}
				n := alike(texts[a.file].lines[a.at:], texts[b.file].lines[b.at:])
				if pair := [2]int{a.file, b.file}; n > longest[pair].Size {
					where := fmt.Sprintf("%s:%d ~ %s:%d", texts[a.file].name, texts[a.file].lines[a.at].number, texts[b.file].name, texts[b.file].lines[b.at].number)
					longest[pair] = sized{where, n}
				}
			}
		}
	}
	var out []sized
	for _, s := range longest {
		out = append(out, s)
	}
	return out
}

func alike(a, b []line) int {
	for n := range min(len(a), len(b)) {
		if a[n].shape != b[n].shape {
			return n
		}
	}
	return min(len(a), len(b))
}
