package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"touchdown/test/resume"
)

// Result is what came of one row.
type Result struct {
	Row     string    `json:"row"`
	Key     string    `json:"key"` // of what it was made of
	Passed  bool      `json:"passed"`
	Seconds float64   `json:"seconds"`
	CPU     float64   `json:"cpuSeconds"`        // of the test and the processes it waited for
	Ran     int       `json:"ran"`               // tests, subtests left out
	Skipped []string  `json:"skipped,omitempty"` // subtests too
	When    time.Time `json:"when"`
	Log     string    `json:"log"`
}

// kept is the folder of results, the last one of each row. Only what passed as a whole is found again.
type kept string

func (k kept) file(r Row) string { return filepath.Join(string(k), "kept", r.id()+".json") }

func (k kept) find(r Row, key string) (Result, bool) {
	var found Result
	data, err := os.ReadFile(k.file(r))
	if err != nil || json.Unmarshal(data, &found) != nil {
		return Result{}, false
	}
	return found, found.whole() && found.Key == key
}

// whole tells whether a result shows that all of the row passes. What was skipped is not shown: the machine lacked something, which it may
// have the next time without any change to the key.
func (r Result) whole() bool { return r.Passed && len(r.Skipped) == 0 }

// withdraw forgets what was kept of a row.
func (k kept) withdraw(r Row) error {
	if err := os.Remove(k.file(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the result of %s: %w", r, err)
	}
	return nil
}

func (k kept) put(r Row, result Result) error {
	if err := resume.Save(k.file(r), result); err != nil {
		return fmt.Errorf("the result of %s: %w", r, err)
	}
	return nil
}
