package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"touchdown/test/imagestore"
)

// measured is a measurement to those who expect a test.
type measured struct {
	dir     string
	err     error
	cleanup []func()
	made    int
}

var _ imagestore.T = (*measured)(nil)

func (m *measured) must(err error) {
	if err != nil {
		m.Fatal(err)
	}
}

func (m *measured) Helper() {}

func (m *measured) Fatal(args ...any) {
	m.err = errors.New(fmt.Sprint(args...))
	panic(m)
}

func (m *measured) Fatalf(format string, args ...any) { m.Fatal(fmt.Sprintf(format, args...)) }

func (m *measured) Skipf(format string, args ...any) { m.Fatalf(format, args...) }

func (m *measured) Cleanup(f func()) { m.cleanup = append(m.cleanup, f) }

func (m *measured) TempDir() string {
	m.made++
	dir := filepath.Join(m.dir, strconv.Itoa(m.made))
	_ = os.MkdirAll(dir, 0o700) // what cannot be made cannot be used
	return dir
}

func (m *measured) end() {
	for _, f := range m.cleanup {
		f()
	}
}

// failed stops what Fatal threw.
func (m *measured) failed() {
	if r := recover(); r != nil && r != m {
		panic(r)
	}
}
