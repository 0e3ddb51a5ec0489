// Package chosen is about files on media: those that a console shows, how an answer tells that it comes from one, and what was written.
package chosen

import (
	"strings"

	"touchdown/backend/message"
	"touchdown/steps/site"
)

// Volume is a volume in one of the machine's sockets, as a console shows it to a person who chooses a file.
type Volume struct {
	ID    string       `json:"id"`   // for the action that takes a file of it
	Name  string       `json:"name"` // "TOUCHDOWN (sdb1)"
	Files []File       `json:"files,omitempty"`
	More  bool         `json:"more,omitempty"` // it has more files than are listed
	Why   message.Text `json:"why,omitzero"`   // why it is not read
}

// File is a file of a volume.
type File struct {
	Path  string `json:"path"` // from the root of the volume
	Bytes int64  `json:"bytes"`
}

// Saved is a file that was written to a volume.
type Saved struct {
	Volume string `json:"volume"` // "TOUCHDOWN (sdb1)"
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

const prefix = "chosen "

// From is the origin of a value that a person took from a file on a volume, for site.Config.Sources. A volume's name has no slash in it.
func From(volume, file string) string { return prefix + volume + "/" + file }

// Of reads what From wrote.
func Of(origin string) (volume, file string, ok bool) {
	rest, ok := strings.CutPrefix(origin, prefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "/")
}

// ByPerson tells whether a person gave a value: typed it, or chose a file.
func ByPerson(origin string) bool { return site.ByHand(origin) || strings.HasPrefix(origin, prefix) }
