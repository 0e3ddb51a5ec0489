package media

import (
	"errors"
	"fmt"
	"io/fs"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
)

const (
	// releaseFile has the public halves of the keys whose releases the node takes (touchdown update). Those of trustFile are not among
	// them: who signs a site's answers must not be able to bring a program.
	releaseFile = layout.Media + "/releases.pub"
	// chosenReleases has those that the bench line was told, for the bake.
	chosenReleases = layout.FactoryState + "/releases.pub"
)

// Releases is what a node knows of those who sign releases.
type Releases struct{ machine *host.Machine }

// ReleasesOf is what a machine knows.
func ReleasesOf(m *host.Machine) Releases { return Releases{m} }

// Choose keeps the public halves of keys for Chosen.
func (k Releases) Choose(keys []byte) error {
	return k.machine.WriteFile(chosenReleases, keys, 0o600)
}

// Chosen are the keys that were given to Choose last, nil for none.
func (k Releases) Chosen() ([]byte, error) {
	keys, err := k.machine.ReadFile(chosenReleases)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return keys, err
}

// Lay has the node trust the keys whose public halves are given for releases, and no others. It returns whether it changed
// something.
func (k Releases) Lay(keys []byte) (changed bool, err error) {
	if _, err := envelope.ParseReleaseTrust(keys, nil); err != nil {
		return false, err
	}
	return Of(k.machine).put(releaseFile, keys)
}

// Trust is whose releases the node takes now; nil where it was given no key for them.
func (k Releases) Trust() (*envelope.Trust, error) {
	keys, err := k.machine.ReadFile(releaseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the keys for releases: %w", err)
	}
	revoked, err := Revoked(k.machine)
	if err != nil {
		return nil, err
	}
	return envelope.ParseReleaseTrust(keys, revoked)
}
