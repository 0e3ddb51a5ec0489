package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/update"
)

// checkOrder refuses flags of an order that lack something.
func (f *mediaFlags) checkOrder() error {
	switch {
	case f.unattended && f.serial == "" && f.serials == "":
		return usage(errors.New("--unattended needs --serial or --serials: an order is for named machines, and for no other"))
	case f.unattended && f.key == "":
		return usage(errors.New("--unattended needs --key: the private key that signed the release"))
	}
	return nil
}

// order makes the order to install the release in a folder with nobody there. The release has to be signed with the same key, so that a node
// that trusts one trusts the other; then its program is asked for its version.
func (f *mediaFlags) order(cmd *cobra.Command) (o *update.Order, signed []byte, err error) {
	text, err := readSecret(cmd, "key", f.key)
	if err != nil {
		return nil, nil, err
	}
	key, err := envelope.ParseReleaseKey(text)
	if err != nil {
		return nil, nil, usage(fmt.Errorf("--key %s: %w", f.key, err))
	}
	serials, err := f.ordered(cmd)
	if err != nil {
		return nil, nil, err
	}
	trust, err := envelope.ParseReleaseTrust(envelope.ForReleases(key.Public().PEM()), nil)
	if err != nil {
		return nil, nil, err
	}
	release, err := update.Read(f.release, update.Keys{Releases: trust})
	if err != nil {
		return nil, nil, notThere(err)
	}
	version, err := toldBy(cmd.Context(), f.release)
	if err != nil {
		return nil, nil, err
	}
	o = update.NewOrder(release, version, serials)
	if signed, err = o.Sign(key); err != nil {
		return nil, nil, usage(err)
	}
	return o, signed, nil
}

// toldBy is the version that the program of a release tells here.
func toldBy(ctx context.Context, folder string) (string, error) {
	program, err := filepath.Abs(filepath.Join(folder, update.Files()[0]))
	if err != nil {
		return "", fmt.Errorf("finding the program of the release: %w", err)
	}
	said, err := host.Open(host.Options{NoPower: true, Log: slog.New(slog.DiscardHandler)}).Run(ctx, program, "version")
	if err != nil {
		return "", fmt.Errorf("asking the program of the release for its version: %w", err)
	}
	return update.VersionIn(said)
}

// ordered are the serial numbers of the flags: one, or those of a file, one a line.
func (f *mediaFlags) ordered(cmd *cobra.Command) (serials []string, err error) {
	if f.serial != "" {
		serials = append(serials, f.serial)
	}
	if f.serials == "" {
		return serials, nil
	}
	text, err := readNamed(cmd, "serials", f.serials, maxListFile)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		if serial := strings.TrimSpace(string(line)); serial != "" && !strings.HasPrefix(serial, "#") {
			serials = append(serials, serial)
		}
	}
	return serials, nil
}
