package main

import (
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2"
)

// registry is where the crates come from; another source would need its own way to name them.
const registry = "registry+https://github.com/rust-lang/crates.io-index"

// cratesIn reads the crates of a Cargo.lock. The package that only pins them has no source, and is left out.
func cratesIn(lock []byte) ([]part, error) {
	var all struct {
		Package []struct{ Name, Version, Source, Checksum string }
	}
	if err := toml.Unmarshal(lock, &all); err != nil {
		return nil, fmt.Errorf("reading the crates: %w", err)
	}
	var parts []part
	for _, c := range all.Package {
		switch c.Source {
		case "":
			continue
		case registry:
		default:
			return nil, fmt.Errorf("the crate %s comes from %s, which this program cannot name", c.Name, c.Source)
		}
		parts = append(parts, part{
			name: c.Name, version: c.Version, purl: "pkg:cargo/" + c.Name + "@" + c.Version, sha256: c.Checksum,
			source: "https://static.crates.io/crates/" + c.Name + "/" + c.Version + "/download",
		})
	}
	if len(parts) == 0 {
		return nil, errors.New("it lists no crates")
	}
	return parts, nil
}
