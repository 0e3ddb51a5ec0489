package site

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/value"

	"gopkg.in/yaml.v3"
)

// exampleFix is for a text in which not much is right.
const exampleFix = "compare it with the example that `touchdown site new` prints"

// position is a place in the document, counted from 1.
type position struct {
	file         string
	line, column int
}

func (p position) at(path string, f *Error) *Error {
	f.File, f.Line, f.Column, f.Path = p.file, p.line, p.column, path
	return f
}

// readable returns the text without a byte order mark, or the place of the first byte that no text document holds.
func readable(data []byte) ([]byte, *Error) {
	text, bad := value.Document(data)
	if bad != nil {
		return nil, &Error{Line: bad.Line, Column: bad.Column, Msg: bad.What, Fix: bad.Fix}
	}
	return text, nil
}

// sized returns a text that is small enough and readable, as YAML.
func sized(data []byte, name string) ([]byte, *Error) {
	if len(data) > maxDocument {
		return nil, &Error{File: name, Msg: message.T("is larger than 1 MiB, the limit of this document"), Fix: message.T("check that it is the right file")}
	}
	data, bad := readable(data)
	if bad != nil {
		return nil, position{name, bad.Line, bad.Column}.at("", bad)
	}
	return fromJSON(data), nil
}

// document returns the one mapping that the text holds.
func document(data []byte, name string) (*yaml.Node, *Error) {
	data, bad := sized(data, name)
	if bad != nil {
		return nil, bad
	}
	root, bad := single(data, name)
	if bad != nil {
		return nil, bad
	}
	if f := plainNode(root, yaml.MappingNode); f != nil {
		f.Fix = message.T(exampleFix)
		return nil, position{name, root.Line, root.Column}.at("", f)
	}
	return root, nil
}

// fragment returns the root of a YAML text that is the value of one path, for example a desired state of nmstate.
func fragment(data []byte) (*yaml.Node, *Error) {
	root, f := single(data, "")
	if f != nil {
		fix := strings.Replace(f.Fix.String(), exampleFix, "", 1)
		return nil, fault(message.Data(fix), message.F("%s, in its line %d", f.Msg, f.Line))
	}
	return root, nil
}

const secondDocument = "starts a second document"

// single returns the root of the one YAML document that the text holds.
func single(data []byte, name string) (*yaml.Node, *Error) {
	start := position{file: name, line: 1, column: 1}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	err := decode(dec, &doc)
	if errors.Is(err, io.EOF) || err == nil && doc.Content[0].Tag == "!!null" {
		return nil, start.at("", fault(message.T(exampleFix), message.T("is empty")))
	}
	if err == nil {
		if err = decode(dec, &next); err == nil {
			return nil, position{name, next.Line, next.Column}.at("", fault(message.T("keep one document in a file"), message.T(secondDocument)))
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, syntax(data, name, err)
	}
	return doc.Content[0], nil
}

// decode keeps a crash of the YAML library, which has had some on hostile input, from ending the program.
func decode(dec *yaml.Decoder, node *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("yaml: crash")
		}
	}()
	return dec.Decode(node)
}

// syntax says in plain words what the YAML library found. Its own words are not passed on: they can quote the document.
func syntax(data []byte, name string, err error) *Error {
	line := locate(data, err)
	f := &Error{File: name, Line: line, Column: 1, Msg: message.T("is not valid YAML"), Fix: message.T(exampleFix)}
	text := lineOf(data, line)
	if indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]; strings.Contains(indent, "\t") {
		f.Msg, f.Fix = message.T("is indented with a tab"), message.T("indent with spaces")
		return f
	}
	for _, s := range yamlSays {
		if strings.Contains(err.Error(), s.part) {
			f.Msg, f.Fix = s.msg, s.fix
			return f
		}
	}
	return f
}

// yamlSays maps what gopkg.in/yaml.v3 (scannerc.go, parserc.go, decode.go) reports to plain words.
var yamlSays = []struct {
	part     string
	msg, fix message.Text
}{
	{"found character that cannot start any token", message.T("has a character that no value starts with"), message.T("put the value in quotes")},
	{"mapping values are not allowed", message.T("has a colon where no key can be"), message.T("check the indentation and the line before, or put the value in quotes")},
	{"did not find expected key", message.T("is not indented like the lines around it"), message.T("give the keys of one group the same indentation")},
	{"did not find expected '-' indicator", message.T("is not indented like the lines around it"), message.T("give the entries of one list the same indentation")},
	{"unexpected end of stream", message.T("opens a quote that is never closed"), message.T("close the quote")},
	{"unexpected document indicator", message.T("opens a quote that is never closed"), message.T("close the quote")},
	{"did not find expected <document start>", message.T("has more text after the end of the document"), message.T("keep one document in a file")},
	{"did not find expected ','", message.T("has a bracket that is never closed, or a missing comma"), message.T("close the bracket")},
	{"did not find expected node content", message.T("has a bracket that is never closed, or nothing between two commas"), message.T("close the bracket")},
	{"could not find expected ':'", message.T("has no colon after the key"), message.T("write it as key: value, and indent a text of many lines below its key")},
	{"unknown anchor", message.T("uses an alias (*name), which is not allowed"), message.T("write the value out, or put it in quotes")},
	{"exceeded max depth", message.T("is nested too deeply"), message.T("check that it is the right file")},
	{"hexdecimal", message.T("has a backslash code that is not complete"), message.T("use single quotes")},
	{"escape", message.T("has a backslash code that YAML does not know"), message.T("use single quotes")},
	{"directive", message.T("has a % directive, which is not allowed"), message.T("remove the line")},
}

// locate finds the line of a syntax error: the first after which the text fails the same way. The library's own line
// numbers are often one too small, point at the start of the block or are missing.
func locate(data []byte, err error) int {
	const most = 64 << 10 // the search parses the text up to 16 times; this keeps it well below a second
	if len(data) > most {
		return reported(err)
	}
	var ends []int
	for i, b := range data {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	ends = append(ends, len(data))
	good, bad := 0, len(ends)
	for bad-good > 1 {
		middle := (good + bad) / 2
		if fails(data[:ends[middle-1]], err) {
			bad = middle
		} else {
			good = middle
		}
	}
	return bad
}

func fails(data []byte, want error) bool {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		err := decode(dec, &n)
		if err != nil {
			return !errors.Is(err, io.EOF) && withoutLine(err) == withoutLine(want)
		}
	}
}

// withoutLine cuts "yaml: line 7: " off.
func withoutLine(err error) string {
	parts := strings.SplitN(err.Error(), ": ", 3)
	return parts[len(parts)-1]
}

func reported(err error) int {
	line := 0
	_, after, _ := strings.Cut(err.Error(), "line ")
	for _, r := range after {
		if r < '0' || r > '9' {
			break
		}
		line = line*10 + int(r-'0')
	}
	return max(line, 1)
}

func lineOf(data []byte, line int) string {
	lines := bytes.SplitN(data, []byte("\n"), line+1)
	return string(lines[min(line, len(lines))-1])
}
