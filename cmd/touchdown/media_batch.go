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

	"touchdown/backend/envelope"
	"touchdown/backend/media"
)

// extensions of the images, by format.
var extensions = map[string]string{"vfat": ".img", "iso9660": ".iso"}

// made is a line of the batch's index.
type made struct {
	serial, id, file, sum string
}

// writeTable makes the media of --table. Nothing is written before all of the table was found valid.
func (f *mediaFlags) writeTable(cmd *cobra.Command) error {
	m, err := f.maker(cmd)
	if err != nil {
		return err
	}
	if extensions[f.format] == "" {
		return usage(fmt.Errorf("--format %s: vfat or iso9660", f.format))
	}
	rows, err := f.readRows(cmd)
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
	if err := f.checkOut(cmd, rows); err != nil {
		return err
	}
	locks, err := f.makeLocks(rows)
	if err != nil {
		return err
	}
	all, err := f.makeAll(cmd, m, rows, locks)
	if err == nil {
		err = f.writeIndex(all)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(printed(cmd), "%d media in %s, signed with key %s; index.csv lists them\n", len(all), f.out, m.key.ID())
	return nil
}

// makeAll makes the media side by side: most of the time goes into sealing.
func (f *mediaFlags) makeAll(cmd *cobra.Command, m *maker, rows []row, locks []envelope.Lock) ([]made, error) {
	all, errs := make([]made, len(rows)), make([]error, len(rows))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				all[i], errs[i] = f.makeRow(m, rows[i], locks[i])
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

func (f *mediaFlags) makeRow(m *maker, r row, lock envelope.Lock) (made, error) {
	d, image, err := m.make(r.serial, r.config, lock)
	if err != nil {
		return made{}, err
	}
	name := f.imageOf(r)
	if err := media.WriteTo(filepath.Join(f.out, name), image, media.Allow{Content: f.force}); err != nil {
		return made{}, err
	}
	sum := sha256.New()
	sum.Write(image.Head)
	sum.Write(make([]byte, image.Size-int64(len(image.Head))))
	return made{r.serial, d.ID, name, fmt.Sprintf("%x", sum.Sum(nil))}, nil
}

// writeIndex leaves what was made.
func (f *mediaFlags) writeIndex(all []made) error {
	lines := [][]string{{"serial", "document", "file", "sha256"}}
	for _, m := range all {
		lines = append(lines, []string{m.serial, m.id, m.file, m.sum})
	}
	return f.writeList(indexFile, lines, 0o644)
}

func (f *mediaFlags) writeList(name string, lines [][]string, mode os.FileMode) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	if err := w.WriteAll(lines); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	file := filepath.Join(f.out, name)
	if !f.force {
		return writeNew(file, text.Bytes(), mode)
	}
	// The old list stays until the new one is whole.
	fresh := file + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := writeNew(fresh, text.Bytes(), mode); err != nil {
		return err
	}
	if err := os.Rename(fresh, file); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
