package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"touchdown/backend/envelope"
	"touchdown/steps/site"
)

// readFolder reads the site configs SERIAL.yaml in a folder. Other files in it may be those that they name.
func readFolder(dir string, warn func(error)) ([]row, error) {
	var wrong mistakes
	serials, err := serialsIn(dir, &wrong)
	if err != nil {
		return nil, usage(fmt.Errorf("--table: %w", err))
	}
	if len(serials) > maxRows || len(serials) == 0 && len(wrong.told) == 0 {
		return nil, usage(fmt.Errorf("--table %s: there are %d files SERIAL.yaml in it; 1 to %d can be taken", dir, len(serials), maxRows))
	}
	var rows []row
	for _, serial := range serials {
		name := filepath.Join(dir, serial+".yaml")
		cfg, err := site.Load(name)
		if err == nil {
			errs, warnings := cfg.Validate(time.Now())
			for _, w := range inFile(warnings, name) {
				warn(w)
			}
			err = errs.Err()
		}
		wrong.addAll(name, err)
		rows = append(rows, row{serial: serial, config: cfg, place: name})
	}
	return rows, wrong.err()
}

// serialsIn are the serial numbers after which the site configs in a folder are named. What looks like one and is none is a mistake, so that
// no machine is left out.
func serialsIn(dir string, wrong *mistakes) (serials []string, err error) {
	entries, err := os.ReadDir(dir)
	before := map[string]string{} // the files; firmware and people write letters large or small
	for _, entry := range entries {
		name, kind := filepath.Join(dir, entry.Name()), filepath.Ext(entry.Name())
		serial := strings.TrimSuffix(entry.Name(), kind)
		if kind != ".yaml" {
			if lower := strings.ToLower(kind); lower == ".yml" || lower == ".yaml" {
				wrong.add("%s: the name of a site config ends in .yaml here; rename the file, or move it away", name)
			}
			continue
		}
		if err := envelope.CheckSerial(serial); err != nil {
			wrong.add("%s: it is not named after a serial number: %w", name, err)
			continue
		}
		if other := before[strings.ToLower(serial)]; other != "" {
			wrong.add("%s: %s is for the same serial number", name, other)
			continue
		}
		before[strings.ToLower(serial)] = name
		serials = append(serials, serial)
	}
	return serials, err
}

// addAll adds each mistake in a site config.
func (m *mistakes) addAll(file string, err error) {
	if errs, ok := errors.AsType[site.Errors](err); ok {
		for _, e := range inFile(errs, file) {
			m.add("%w", e)
		}
	} else if err != nil {
		m.add("%w", err)
	}
}
