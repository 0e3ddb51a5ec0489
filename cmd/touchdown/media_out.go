package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// The lists in the folder of a batch.
const (
	indexFile      = "index.csv"
	passphraseFile = "passphrases.csv"
)

// imageOf is the name of a row's image.
func (f *mediaFlags) imageOf(r row) string { return r.serial + extensions[f.format] }

// checkOut looks at the folder before anything is written to it. Without --force it holds nothing that the table makes; with it
// never the passphrases of other machines' media, which are nowhere else.
func (f *mediaFlags) checkOut(cmd *cobra.Command, rows []row) error {
	names := []string{indexFile, passphraseFile}
	for _, r := range rows {
		names = append(names, f.imageOf(r))
	}
	for _, name := range names {
		if f.force {
			break
		}
		if _, err := os.Lstat(filepath.Join(f.out, name)); !errors.Is(err, os.ErrNotExist) {
			return &problem.Problem{
				Code: "MED-FULL", Summary: message.F("%s is there already.", filepath.Join(f.out, name)),
				Fix: message.T("Name another folder for this table, or make its media again with --force."), Err: err,
			}
		}
	}
	others, err := f.others(cmd, rows)
	if err == nil && len(others) == 0 {
		return nil
	}
	p := &problem.Problem{Code: "MED-FULL", Summary: message.F("%s is not a list of passphrases.", filepath.Join(f.out, passphraseFile)), Fix: message.T("Name another folder for this table."), Err: err}
	if err == nil {
		p.Summary = message.F("%s has the passphrases of %d machines that are not in this table, such as %s.", filepath.Join(f.out, passphraseFile), len(others), others[0])
	}
	return p
}

// others are the serial numbers in the folder's list of passphrases that are not in the table.
func (f *mediaFlags) others(cmd *cobra.Command, rows []row) (others []string, err error) {
	text, err := readNamed(cmd, "out", filepath.Join(f.out, passphraseFile), maxTable)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(lines) == 0 || !slices.Equal(lines[0], secretsHead) {
		return nil, errors.New("its lines are not serial,passphrase") // the reader's own error could tell one
	}
	in := map[string]bool{}
	for _, r := range rows {
		in[r.serial] = true
	}
	for _, line := range lines[1:] {
		if !in[line[0]] {
			others = append(others, fmt.Sprintf("%.64q", line[0]))
		}
	}
	return others, nil
}

var secretsHead = []string{"serial", "passphrase"}

// makeLocks makes what the media are sealed with, and leaves the passphrases for their owner alone. They are on the disk before
// the first medium is, which nobody could open without its own.
func (f *mediaFlags) makeLocks(rows []row) ([]envelope.Lock, error) {
	locks, secrets := make([]envelope.Lock, len(rows)), [][]string{secretsHead}
	for i, r := range rows {
		var passphrase string
		var err error
		if r.recipient != "" {
			locks[i], err = envelope.NodeLock(r.recipient)
		} else {
			locks[i], passphrase, err = envelope.GeneratedLock()
			secrets = append(secrets, []string{r.serial, passphrase})
		}
		if err != nil {
			return nil, err
		}
	}
	if len(secrets) == 1 {
		return locks, nil
	}
	return locks, f.writeList(passphraseFile, secrets, 0o600)
}
