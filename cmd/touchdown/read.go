package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"touchdown/steps/site"
)

// readSite reads a site config; - is standard input, where no file lies beside it. What is wrong with it is the caller's mistake.
func readSite(cmd *cobra.Command, file string) (*site.Config, error) {
	if file != "-" {
		cfg, err := site.Load(file)
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

// readInput reads at most limit bytes of standard input.
func readInput(cmd *cobra.Command, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return nil, usage(fmt.Errorf("reading standard input: %w", err))
	}
	return data, nil
}

// loadSite reads and judges a site config; what is wrong with it is the caller's mistake.
func loadSite(cmd *cobra.Command, file string) (*site.Config, error) {
	cfg, err := readSite(cmd, file)
	if err != nil {
		return nil, err
	}
	errs, warnings := cfg.Validate(time.Now())
	for _, w := range warnings {
		fmt.Fprintf(complaints(cmd), "warning: %v\n", w)
	}
	if err := errs.Err(); err != nil {
		return nil, usage(err)
	}
	return cfg, nil
}
