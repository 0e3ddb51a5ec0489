package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"touchdown/backend/media"
	"touchdown/backend/media/envelope"
)

// extensions of the images, by format.
var extensions = map[string]string{"vfat": ".img", "iso9660": ".iso"}

// made is a line of the batch's lists.
type made struct {
	serial, id, file, sum, passphrase string
}

// writeTable makes the media of --table. Nothing is written before all of the table was found valid.
func (f *mediaFlags) writeTable(cmd *cobra.Command) error {
	m, err := f.maker()
	if err != nil {
		return err
	}
	if extensions[f.format] == "" {
		return usage(fmt.Errorf("--format %s: vfat or iso9660", f.format))
	}
	rows, err := f.readRows()
	if err != nil {
		return err
	}
	for _, r := range rows {
		if f.unattended && r.recipient == "" {
			return usage(fmt.Errorf("--unattended: serial number %s has no recipient, and nobody is there to type a passphrase", r.serial))
		}
	}
	if err := os.MkdirAll(f.out, 0o700); err != nil {
		return usage(err)
	}
	all, err := f.makeAll(cmd, m, rows)
	if err == nil {
		err = f.writeLists(all)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(printed(cmd), "%d media in %s, signed with key %s; index.csv lists them\n", len(all), f.out, m.key.ID())
	return nil
}

// makeAll makes the media side by side: most of the time goes into sealing.
func (f *mediaFlags) makeAll(cmd *cobra.Command, m *maker, rows []row) ([]made, error) {
	all, errs := make([]made, len(rows)), make([]error, len(rows))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				all[i], errs[i] = f.makeRow(m, rows[i])
			}
		})
	}
	for i := range rows {
		if cmd.Context().Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return all, errors.Join(cmd.Context().Err(), errors.Join(errs...))
}

func (f *mediaFlags) makeRow(m *maker, r row) (made, error) {
	var lock envelope.Lock
	var passphrase string
	var err error
	if r.recipient != "" {
		lock, err = envelope.NodeLock(r.recipient)
	} else {
		lock, passphrase, err = envelope.GeneratedLock()
	}
	if err != nil {
		return made{}, err
	}
	d, image, err := m.make(r.serial, r.config, lock)
	if err != nil {
		return made{}, err
	}
	name := r.serial + extensions[f.format]
	if err := media.WriteTo(filepath.Join(f.out, name), image, f.force); err != nil {
		return made{}, err
	}
	sum := sha256.New()
	sum.Write(image.Head)
	sum.Write(make([]byte, image.Size-int64(len(image.Head))))
	return made{r.serial, d.ID, name, fmt.Sprintf("%x", sum.Sum(nil)), passphrase}, nil
}

// writeLists leaves what was made, and, for their owner alone, the passphrases.
func (f *mediaFlags) writeLists(all []made) error {
	index, secrets := [][]string{{"serial", "document", "file", "sha256"}}, [][]string{{"serial", "passphrase"}}
	for _, m := range all {
		index = append(index, []string{m.serial, m.id, m.file, m.sum})
		if m.passphrase != "" {
			secrets = append(secrets, []string{m.serial, m.passphrase})
		}
	}
	if err := f.writeList("index.csv", index, 0o644); err != nil || len(secrets) == 1 {
		return err
	}
	return f.writeList("passphrases.csv", secrets, 0o600)
}

func (f *mediaFlags) writeList(name string, lines [][]string, mode os.FileMode) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	if err := w.WriteAll(lines); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	file := filepath.Join(f.out, name)
	if f.force {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return writeNew(file, text.Bytes(), mode)
}
