package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
)

// The flags with the public keys of signers that a node is to trust: for site media, and for releases.
const (
	mediaKeyFlag   = "media-key"
	releaseKeyFlag = "release-key"
)

const (
	mediaKeys   = "touchdown media keygen NAME makes NAME.pub for site media"
	releaseKeys = "touchdown media keygen --release NAME makes NAME.pub for releases, and make release KEY=NAME.key signs with it"
)

// trustedKeys are the files of the two flags.
type trustedKeys struct{ media, release string }

func (t *trustedKeys) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.media, mediaKeyFlag, "", "trust site media that the keys in this file sign: public halves, one behind the other")
	cmd.Flags().StringVar(&t.release, releaseKeyFlag, "", "take releases (touchdown update) that the keys in this file sign: public halves of touchdown media keygen --release")
}

// read reads both files; nil where none is named. No key may be in both.
func (t *trustedKeys) read(cmd *cobra.Command) (media, release []byte, err error) {
	media, medium, err := readKeys(cmd, mediaKeyFlag, t.media, mediaKeys, envelope.ParseTrust)
	if err != nil {
		return nil, nil, err
	}
	release, releases, err := readKeys(cmd, releaseKeyFlag, t.release, releaseKeys, envelope.ParseReleaseTrust)
	if err != nil || medium == nil || releases == nil {
		return media, release, err
	}
	for _, id := range medium.IDs() {
		if _, both := releases.Key(id); both {
			return nil, nil, usage(errors.New("the key " + id + " is for site media and for releases: make one for each; " + releaseKeys))
		}
	}
	return media, release, nil
}

func readKeys(cmd *cobra.Command, flag, file, how string, parse func(keys, revoked []byte) (*envelope.Trust, error)) ([]byte, *envelope.Trust, error) {
	if file == "" {
		return nil, nil, nil
	}
	keys, err := readNamed(cmd, flag, file, maxKeyFile)
	if err != nil {
		return nil, nil, err
	}
	trust, err := parse(keys, nil)
	if err != nil {
		return nil, nil, usage(fmt.Errorf("--%s %s: %w; %s", flag, file, err, how))
	}
	return keys, trust, nil
}
