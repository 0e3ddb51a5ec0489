package images

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/message"
)

var statusFile = state("status.json")

// Status is what the last look at the images found. It is kept on disk, so that the dashboard and `touchdown images status`
// tell it without looking again.
type Status struct {
	Looked     time.Time      `json:"looked"`
	Boot       string         `json:"boot"`               // id of the boot in which it was looked
	Generation int            `json:"generation"`         // of the store; 0: nothing was ever seeded
	Images     int            `json:"images"`             // in the store
	Layers     int            `json:"layers"`             // in the store
	Bytes      int64          `json:"bytes"`              // of its layers, unpacked
	Mounted    bool           `json:"mounted"`            // the store is in its place, read-only
	Named      bool           `json:"named"`              // storage.conf names it, so CRI-O reads it
	Listed     int            `json:"listed"`             // images of the store that CRI-O lists
	Outside    int            `json:"outside"`            // images that only CRI-O's own store has: a registry is their only other source
	Unlisted   []string       `json:"unlisted,omitempty"` // images of the store that CRI-O does not list
	Damage     []message.Text `json:"damage,omitempty"`   // layer, image and file, and what is wrong
	Unrepaired []message.Text `json:"unmended,omitempty"` // why damage could not be repaired
	Repaired   []message.Text `json:"repaired,omitempty"` // what was damaged or missing, and is whole again
	Verified   time.Time      `json:"verified,omitzero"`  // when each byte of the store was last read and found right
	Trouble    message.Text   `json:"trouble,omitzero"`   // why the look could not be finished
	Fix        message.Text   `json:"fix,omitzero"`       // of the trouble
	Detail     message.Text   `json:"detail,omitzero"`    // of the trouble, for an engineer
}

// Well tells whether the node has all that was seeded, and CRI-O sees it.
func (s Status) Well() bool {
	return s.Generation > 0 && s.Mounted && s.Named && len(s.Unlisted)+len(s.Damage) == 0 && s.Trouble == (message.Text{})
}

// LoadStatus returns what the last look found; fs.ErrNotExist when nobody ever looked.
func LoadStatus(m *host.Machine) (Status, error) {
	var s Status
	data, err := m.ReadFile(statusFile)
	if err != nil {
		return s, fmt.Errorf("reading the state of the images: %w", err)
	}
	if err := message.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("reading %s: %w", statusFile, err)
	}
	return s, nil
}

func (s Status) save(m *host.Machine) error {
	data, err := message.Marshal(&s)
	if err != nil {
		return fmt.Errorf("encoding the state of the images: %w", err)
	}
	if err := m.WriteFile(statusFile, data, 0o600); err != nil {
		return fmt.Errorf("keeping the state of the images: %w", err)
	}
	return nil
}

// Notices are sentences for every screen: what a person should know of the images and would not look for. A store that is
// well is no news.
func Notices(m *host.Machine) []message.Text {
	var out []message.Text
	if d, err := LoadMoved(m); err == nil && d.Failed != (message.Text{}) {
		out = append(out, message.F("Image store: the images could not be moved: %s They are where they were.", message.Sentence(d.Failed)))
	}
	s, err := LoadStatus(m)
	if errors.Is(err, fs.ErrNotExist) {
		return out
	}
	if err != nil {
		return append(out, message.T("The state of the image store cannot be read: run `touchdown images verify`."))
	}
	if n := len(s.Repaired); n > 0 {
		out = append(out, message.F("Image store: %s damaged and repaired automatically.", message.N(n, "%d thing was", "%d things were")))
	}
	if t := s.notice(); t != (message.Text{}) {
		out = append(out, t)
	}
	return out
}

// notice is what every screen says of a store that is not well.
func (s Status) notice() message.Text {
	switch {
	case s.troubled() && s.Fix != (message.Text{}):
		return message.F("Image store: %s %s", message.Sentence(s.Trouble), s.Fix)
	case s.Generation > 0 && !s.Well(), s.Trouble != (message.Text{}):
		return message.F("Image store: %s. Run `touchdown images verify` while a registry can be reached.", s.wrong())
	}
	return message.Text{}
}

// troubled tells whether why the look could not be finished is the worst that there is to say. Whoever cannot even read which generation is
// in force does not know it: that is not a node that was never seeded.
func (s Status) troubled() bool {
	return s.Trouble != (message.Text{}) && s.wrong() == s.Trouble
}

// wrong says the worst that is not well.
func (s Status) wrong() message.Text {
	switch {
	case len(s.Damage) > 0:
		return message.F("%s found, first %s", message.N(len(s.Damage), "%d damage", "%d damages"), s.Damage[0])
	case !s.Mounted:
		return message.T("it is not in its place; the node runs on its own images alone")
	case !s.Named:
		return message.T("CRI-O is not told of it")
	case len(s.Unlisted) > 0:
		return message.F("%s not seen by CRI-O, first %s", message.N(len(s.Unlisted), "%d image is", "%d images are"), s.Unlisted[0])
	}
	return s.Trouble
}

// Checks are the state in the form that screens and reports show.
func (s Status) Checks() []check.Check {
	source := message.T("what was seeded (manifest of the store)")
	if s.Generation == 0 && s.Trouble == (message.Text{}) {
		return []check.Check{{
			ID: "images-store", Title: message.T("Image store"), Status: check.Warn, Observed: message.T("none: without a registry a lost image cannot come back"),
			Expected: message.T("all images the node runs"), Source: source, Fix: message.T("Let Touchdown seed it: `touchdown images seed`."),
		}}
	}
	store := check.Check{
		ID: "images-store", Title: message.T("Image store"), Status: check.Pass, Source: source, Expected: message.T("in place, and known to CRI-O"),
		Observed: message.F("%s, %s, %s", message.N(s.Images, "%d image", "%d images"), message.N(s.Layers, "%d layer", "%d layers"), size(s.Bytes)),
	}
	if !s.Mounted || !s.Named || s.Trouble != (message.Text{}) {
		store.Status, store.Observed = check.Fail, s.wrong()
		store.Fix = message.T("Run `touchdown images seed` again; it changes only what is not right.")
		if s.troubled() && s.Fix != (message.Text{}) {
			store.Fix, store.Evidence = s.Fix, []message.Text{s.Detail}
		}
	}
	listed := check.Check{
		ID: "images-listed", Title: message.T("Images seen by CRI-O"), Status: check.Pass, Source: source,
		Observed: message.F("%d of %d", s.Listed, s.Images), Expected: message.F("%d", s.Images), Evidence: message.Lines(s.Unlisted),
	}
	if len(s.Unlisted) > 0 {
		listed.Status, listed.Fix = check.Fail, message.T("Restart CRI-O (systemctl restart crio); if it stays so, run `touchdown images verify`.")
	}
	whole := check.Check{
		ID: "images-whole", Title: message.T("Layers of the store"), Status: check.Pass, Source: source,
		Observed: message.T("every file is there"), Expected: message.T("every file is there"), Evidence: s.Repaired,
	}
	switch {
	case len(s.Damage) > 0:
		whole.Status, whole.Observed = check.Fail, s.wrong()
		whole.Fix = message.T("Make a registry reachable, then run `touchdown images verify`.")
		whole.Evidence = slices.Concat(s.Damage, s.Unrepaired, s.Repaired)
	case len(s.Repaired) > 0:
		whole.Status, whole.Observed = check.Warn, message.F("%s repaired", message.N(len(s.Repaired), "%d damage was", "%d damages were"))
		whole.Fix = message.T("Watch this disk: what was damaged once may be again.")
	case !s.Verified.IsZero():
		whole.Observed = message.F("%s; each byte verified %s", whole.Observed, s.Verified.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return []check.Check{store, listed, whole}
}

// size says bytes as people read them.
func size(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
