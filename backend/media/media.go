// Package media reads and writes site media: sticks and images that bring a site config to a node.
package media

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/media/volume"
)

// Label is the label of the volumes that are written. What a volume holds decides, its label is for people.
const Label = "SITECONFIG"

// The files of a volume that are read, all from their root.
const (
	// EnvelopeFile is a signed site config, as media write makes it.
	EnvelopeFile = "site-config.dsse.json"
	// PlainFile is a site config that nobody signed.
	PlainFile = "site-config.yaml"
	// AgentManifest is the SeedReconfiguration of lifecycle-agent, on volumes labelled cluster-config.
	AgentManifest = "cluster-configuration/manifest.json"

	aboutFile = "README.TXT"
)

// wants are the files whose content is read, by their paths from the root of a volume. All others are only listed.
type wants []string

// siteFiles are those of a site medium.
func siteFiles() wants { return wants{EnvelopeFile, PlainFile, AgentManifest} }

// has tells whether a file is among them, without regard to case, as FAT names its files.
func (w wants) has(path string) bool {
	return slices.ContainsFunc(w, func(name string) bool { return strings.EqualFold(name, path) })
}

// Formats are the kinds of volume that are written.
func Formats() []string { return []string{volume.FAT, volume.ISO} }

// Make makes the volume of a signed document.
func Make(format string, d *envelope.Document, signed []byte) (*volume.Image, error) {
	files := []volume.File{{Name: EnvelopeFile, Data: signed}, {Name: aboutFile, Data: []byte(about(d, format))}}
	switch format {
	case volume.FAT:
		return volume.WriteFAT(Label, files)
	case volume.ISO:
		return volume.WriteISO(Label, files)
	}
	return nil, fmt.Errorf("there is no format %q, only %s", format, strings.Join(Formats(), " and "))
}

// releaseLabel is the label of a volume with a release.
const releaseLabel = "TOUCHDOWN"

// MakeRelease makes the volume of a release of Touchdown, whose files have these names.
func MakeRelease(files map[string][]byte) (*volume.Image, error) {
	all := []volume.File{{Name: aboutFile, Data: []byte("This volume holds a release of Touchdown. On a node: touchdown update --from-stick\r\n")}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, volume.File{Name: name, Data: files[name]})
	}
	return volume.WriteLargeISO(releaseLabel, host.MaxFile, all)
}

// about is for a person who puts the stick into another computer.
func about(d *envelope.Document, format string) string {
	whose := "any machine"
	if !d.AnySerial {
		whose = "the machine with serial number " + d.Serial
	}
	after := "After its landing the machine overwrites the site config here."
	if d.Keep || format != volume.FAT {
		after = "The site config stays here after the landing: keep or destroy this volume."
	}
	return strings.ReplaceAll(fmt.Sprintf(`This volume holds the site config of %s.
Put it into that machine before or after you switch it on. It can be used once.
%s
Document: %s
`, whose, after, d.ID), "\n", "\r\n")
}
