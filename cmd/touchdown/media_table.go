package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/value"
	"touchdown/steps/site"
)

// The limits of a table. Chosen: ten times the largest roll-out that was asked for.
const (
	maxTable = 32 << 20 // bytes
	maxRows  = 10_000
	maxTold  = 20 // mistakes that are told at once, as for one site config
)

// The columns of a table that are not paths of the site config.
const (
	serialColumn    = "serial"
	recipientColumn = "recipient"
)

// row is a medium to make.
type row struct {
	serial    string
	recipient string // "" for a passphrase
	config    *site.Config
	place     string // the line or the file that it is from
}

// mistakes gathers what is wrong with a table, up to maxTold, and counts the rest.
type mistakes struct {
	told []error
	more int
}

func (m *mistakes) add(format string, args ...any) {
	if len(m.told) == maxTold {
		m.more++
		return
	}
	m.told = append(m.told, fmt.Errorf(format, args...))
}

// err is all of it as a mistake of the person; nil where there is none.
func (m *mistakes) err() error {
	switch {
	case len(m.told) == 0:
		return nil
	case m.more > 0:
		return usage(errors.Join(append(slices.Clone(m.told), fmt.Errorf("and %d more", m.more))...))
	}
	return usage(errors.Join(m.told...))
}

// readRows reads the table or folder of --table, finds every site config in it valid, and prints the warnings about them. Two machines of one
// cluster are nearly always a line that was copied and not changed.
func (f *mediaFlags) readRows(cmd *cobra.Command) ([]row, error) {
	warn := func(err error) { fmt.Fprintf(complaints(cmd), "warning: %v\n", err) }
	rows, err := f.rows(cmd, warn)
	if err != nil {
		return nil, err
	}
	places := map[string]string{} // the first of each cluster
	for _, r := range rows {
		cluster := r.config.Domain()
		if before, ok := places[cluster]; ok {
			warn(fmt.Errorf("%s: the cluster %s is in %s, too; correct the name or the domain, unless one of the machines is a spare", r.place, cluster, before))
			continue
		}
		places[cluster] = r.place
	}
	return rows, nil
}

// rows reads the table or the folder.
func (f *mediaFlags) rows(cmd *cobra.Command, warn func(error)) ([]row, error) {
	if info, err := os.Stat(f.table); err == nil && info.IsDir() {
		if f.file != "" {
			return nil, usage(errors.New("-f goes with a CSV table; the site configs of a folder are complete"))
		}
		return readFolder(f.table, warn)
	}
	text, err := readNamed(cmd, "table", f.table, maxTable)
	if err != nil {
		return nil, err
	}
	common := site.New()
	if f.file != "" {
		if common, err = site.Load(f.file); err != nil {
			return nil, usage(err)
		}
	}
	return readTable(filepath.Base(f.table), text, common, warn)
}

// table reads a CSV file.
type table struct {
	file    string
	reader  *csv.Reader
	columns []string
	common  *site.Config
	wrong   mistakes
	serials map[string]int // the lines where they are
	warn    func(error)
	warned  map[string]bool // of what all lines have in common: it is told once
}

func readTable(file string, text []byte, common *site.Config, warn func(error)) ([]row, error) {
	t := &table{file: file, common: common, serials: map[string]int{}, warn: warn, warned: map[string]bool{}}
	text, bad := value.Document(text)
	if bad != nil {
		return nil, usage(fmt.Errorf("%s:%d:%d: %s; %s", file, bad.Line, bad.Column, bad.What, bad.Fix))
	}
	t.reader = csv.NewReader(bytes.NewReader(text))
	t.reader.Comma = divider(text)
	if err := t.head(); err != nil {
		return nil, err
	}
	var rows []row
	for {
		cells, err := t.reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.wrong.add("%w", t.malformed(err))
			break
		}
		if len(rows) == maxRows {
			return nil, usage(fmt.Errorf("%s: it has more than %d lines; make several tables of it", file, maxRows))
		}
		rows = append(rows, t.row(cells))
	}
	if len(rows) == 0 && len(t.wrong.told) == 0 {
		t.wrong.add("%s: it has no lines behind the names of the columns", file)
	}
	if err := t.wrong.err(); err != nil {
		return nil, err
	}
	return rows, nil
}

// divider is what divides the columns: a comma, or the semicolon of an Excel in a country with decimal commas.
func divider(text []byte) rune {
	head, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	if bytes.ContainsRune(head, ';') && !bytes.ContainsRune(head, ',') {
		return ';'
	}
	return ','
}

// malformed gives an error of the CSV reader the file, and the form of all the others.
func (t *table) malformed(err error) error {
	if e, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("%s:%d:%d: %w", t.file, e.Line, e.Column, e.Err)
	}
	return fmt.Errorf("%s: %w", t.file, err)
}

// head reads the names of the columns.
func (t *table) head() (err error) {
	t.columns, err = t.reader.Read()
	if errors.Is(err, io.EOF) {
		return usage(fmt.Errorf("%s: it is empty; its first line names the columns", t.file))
	}
	if err != nil {
		return usage(t.malformed(err))
	}
	probe := site.New()
	for i, name := range t.columns {
		name = strings.TrimSpace(name)
		t.columns[i] = name
		line, column := t.reader.FieldPos(i)
		_, known := probe.Get(name)
		known = known || name == serialColumn || name == recipientColumn || strings.HasPrefix(name, "spec.policy.answers.")
		switch {
		case !known && strings.ContainsAny(name, ";\t"):
			t.wrong.add("%s:%d:%d: there is no column %q: columns are divided by commas, or all by semicolons; save the table as CSV", t.file, line, column, name)
		case !known:
			t.wrong.add("%s:%d:%d: there is no column %q: it is %s, %s, or a path that touchdown site explain lists", t.file, line, column, name, serialColumn, recipientColumn)
		case slices.Index(t.columns, name) != i:
			t.wrong.add("%s:%d:%d: the column %q is there twice", t.file, line, column, name)
		}
	}
	if !slices.Contains(t.columns, serialColumn) {
		t.wrong.add("%s:1:1: there is no column %q", t.file, serialColumn)
	}
	return t.wrong.err()
}

func (t *table) row(cells []string) row {
	line, _ := t.reader.FieldPos(0)
	r := row{config: t.common.Clone(), place: fmt.Sprintf("%s:%d", t.file, line)}
	at := map[string]string{} // "line:column" of each path
	for i, value := range cells {
		line, column := t.reader.FieldPos(i)
		where := fmt.Sprintf("%s:%d:%d", t.file, line, column)
		value = strings.TrimSpace(value)
		switch name := t.columns[i]; {
		case name == serialColumn:
			r.serial = value
			if err := envelope.CheckSerial(value); err != nil {
				t.wrong.add("%s: %w", where, err)
			} else if before := t.serials[strings.ToLower(value)]; before > 0 {
				t.wrong.add("%s: serial number %s is in line %d, too", where, value, before)
			}
			t.serials[strings.ToLower(value)] = line
		case name == recipientColumn:
			r.recipient = value
			if _, err := envelope.NodeLock(value); value != "" && err != nil {
				t.wrong.add("%s: %w", where, err)
			}
		case value != "":
			at[name] = where
			if err := r.config.Set(name, value); err != nil {
				t.wrong.add("%s: %w", where, err)
			}
		}
	}
	errs, warnings := r.config.Validate(time.Now())
	for _, e := range errs {
		if where := t.placeOf(e, at, line); where != "" {
			t.wrong.add("%s: %w", where, e)
			continue
		}
		t.wrong.add("%w (found with line %d of %s)", e, line, t.file)
	}
	for _, w := range warnings {
		if where := t.placeOf(w, at, line); where != "" {
			t.warn(fmt.Errorf("%s: %w", where, w))
		} else if !t.warned[w.Error()] {
			t.warned[w.Error()] = true
			t.warn(w)
		}
	}
	return r
}

// placeOf says where in the table the cause of an error lies: its cell, or the start of the line. It is "" for an error in the file of -f,
// whose message names a line there.
func (t *table) placeOf(e *site.Error, cells map[string]string, line int) string {
	if where := cells[e.Path]; where != "" || e.Line > 0 {
		return where
	}
	return fmt.Sprintf("%s:%d:1", t.file, line)
}
