package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/host"
	"touchdown/steps/site"
)

// readSite reads a site config; - is standard input, where no file lies beside it. What is wrong with it is the caller's mistake.
func readSite(cmd *cobra.Command, file string) (*site.Config, error) {
	if file != "-" {
		if stream(file) {
			return nil, usage(fmt.Errorf("%s is a pipe or a device, which has no folder for the files that a site config names; give - to read standard input", file))
		}
		cfg, err := site.Load(file)
		if errs, ok := errors.AsType[site.Errors](err); ok {
			return nil, usage(inFile(errs, file))
		}
		if err != nil {
			return nil, usage(err)
		}
		return cfg, nil
	}
	data, err := readInput(cmd, maxImport)
	if err != nil {
		return nil, err
	}
	cfg, err := site.Parse(data, "stdin", nil)
	if err != nil {
		return nil, usage(err)
	}
	return cfg, nil
}

// inFile has each mistake name the file as the person did, also what has no place in it because it is missing.
func inFile(errs site.Errors, file string) site.Errors {
	if file == "-" {
		file = "stdin"
	}
	for _, e := range errs {
		if e.File == "" || e.File == filepath.Base(file) {
			e.File = file
		}
	}
	return errs
}

// stream tells whether a name stands for a pipe or a device, as a shell's <(command) does. /dev/stdin and /dev/fd/N may lead to a regular
// file, but the folder of the name is not that file's.
func stream(file string) bool {
	info, err := os.Stat(file)
	name := filepath.Clean(file)
	return err == nil && !info.IsDir() && (!info.Mode().IsRegular() || name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/"))
}

// spent is standard input after it was read: a second reader would take the end of it for an empty file.
type spent struct{}

func (spent) Read([]byte) (int, error) {
	return 0, errors.New("it was read already; give - once")
}

// readInput reads at most limit bytes of standard input, once.
func readInput(cmd *cobra.Command, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), limit+1))
	cmd.SetIn(spent{})
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return nil, usage(fmt.Errorf("reading standard input: %w", err))
	}
	return data, nil
}

// readGiven reads a whole file that a person named: a regular one of at most limit bytes, or standard input for -. A pipe, a device, a
// folder and a file that is too large are refused, and none of them keeps the command waiting.
func readGiven(cmd *cobra.Command, file string, limit int64) ([]byte, error) {
	if file == "-" {
		return readInput(cmd, limit)
	}
	data, whole, err := host.ReadRegular(file, limit)
	if err == nil && !whole {
		err = fmt.Errorf("%s has more than %d bytes", file, limit)
	}
	if err != nil {
		return nil, usage(err)
	}
	return data, nil
}

// notThere reports a file that does not exist as a wrong command line. It is for files that readGiven does not read.
func notThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return usage(err)
	}
	return err
}

// readNamed is readGiven for the file of a flag.
func readNamed(cmd *cobra.Command, flag, file string, limit int64) ([]byte, error) {
	text, err := readGiven(cmd, file, limit)
	if err != nil {
		return nil, usage(fmt.Errorf("--%s: %w", flag, err))
	}
	return text, nil
}

// loadSite reads and judges a site config; what is wrong with it is the caller's mistake.
func loadSite(cmd *cobra.Command, file string) (*site.Config, error) {
	return loadSiteOn(cmd, file, func(*site.Config) time.Time { return time.Now() })
}

// loadSiteOn is loadSite for a day of which the site config can tell something, as it does where the machine's own clock is wrong.
func loadSiteOn(cmd *cobra.Command, file string, today func(*site.Config) time.Time) (*site.Config, error) {
	cfg, err := readSite(cmd, file)
	if err != nil {
		return nil, err
	}
	errs, warnings := cfg.Validate(today(cfg))
	for _, w := range inFile(warnings, file) {
		fmt.Fprintf(complaints(cmd), "warning: %v\n", w)
	}
	if err := inFile(errs, file).Err(); err != nil {
		return nil, usage(err)
	}
	return cfg, nil
}
