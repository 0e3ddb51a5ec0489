package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Result is what came of one row.
type Result struct {
	Row     string    `json:"row"`
	Key     string    `json:"key"` // of what it was made of
	Passed  bool      `json:"passed"`
	Seconds float64   `json:"seconds"`
	CPU     float64   `json:"cpuSeconds"` // of the test and the processes it waited for
	Ran     int       `json:"ran"`        // tests, subtests left out
	Skipped []string  `json:"skipped,omitempty"`
	When    time.Time `json:"when"`
	Log     string    `json:"log"`
}

// kept is the folder of results. Only what passed is found again.
type kept string

func (k kept) file(r Row) string { return filepath.Join(string(k), "kept", r.id()+".json") }

func (k kept) find(r Row, key string) (Result, bool) {
	var found Result
	data, err := os.ReadFile(k.file(r))
	if err != nil || json.Unmarshal(data, &found) != nil {
		return Result{}, false
	}
	return found, found.Passed && found.Key == key
}

func (k kept) put(r Row, result Result) error {
	data, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Errorf("keeping the result of %s: %w", r, err)
	}
	file := k.file(r)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("keeping the result of %s: %w", r, err)
	}
	if err := os.WriteFile(file+".new", append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("keeping the result of %s: %w", r, err)
	}
	return os.Rename(file+".new", file)
}
