package engine

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// loss is one file of the state folder that is not what was written.
type loss struct {
	file string
	how  harm
	kept string // the name under which it is kept; "" for none
}

// harm is how a file can be lost.
type harm int

const (
	isMissing harm = iota
	isChanged
	isUnreadable
)

func (h harm) text() message.Text {
	return [...]message.Text{message.T("it is missing"), message.T("its content is not what was written"), message.T("it cannot be read")}[h]
}

// text names the file as people know it.
func (l loss) text() message.Text {
	folder, rest, _ := strings.Cut(l.file, "/")
	name := map[string]message.Text{
		"site.yaml": message.T("the answers (site.yaml)"), "sources.json": message.T("where the answers came from (sources.json)"),
		"key": message.T("the key of the fingerprints (key)"), "sums.jsonl": message.T("the checksums of the records (sums.jsonl)"),
	}[l.file]
	switch {
	case name != (message.Text{}):
	case folder == "secrets" && rest != "":
		name = message.F("the secret %s, which has to be entered again", rest)
	case folder == "saved" && rest != "":
		step, key := filepath.Split(rest)
		name = message.F("what step %s saved for undo (%s)", strings.TrimSuffix(step, "/"), key)
	default:
		name = message.F("the folder %s", l.file)
	}
	if l.kept != "" {
		return message.F("%s: %s, and is kept as %s", name, l.how.text(), l.kept)
	}
	return message.F("%s: %s", name, l.how.text())
}

// wiped tells whether the job has removed the file itself.
func (l loss) wiped(k event.Job) bool {
	folder, _, _ := strings.Cut(l.file, "/")
	return folder == "saved" && (k.HandedOver || view.State(k.State) == view.IsUndone) || folder == "secrets" && k.HandedOver && view.State(k.State) == view.IsDone
}

// ours are the files directly in the state folder whose checksums are kept.
var ours = []string{"key", "site.yaml", "sources.json"}

// audit compares the state folder with its checksums. What cannot be used is put aside or, when it is a secret, wiped; files of
// the previous release, which kept no checksums, are taken as they are found.
func (s *stateFolder) audit() {
	for _, folder := range []string{"secrets", "saved"} {
		if aside, err := ownFolder(s.path(folder)); aside != "" || err != nil {
			s.lose(loss{file: folder, how: isUnreadable})
		}
	}
	s.clear()
	if s.sums.bad || !s.sums.there && !fresh(s.path(layout.JournalFile)) {
		s.lose(loss{file: "sums.jsonl", how: map[bool]harm{true: isChanged, false: isMissing}[s.sums.bad]})
	}
	for _, name := range slices.Sorted(maps.Keys(s.sums.files)) {
		s.compare(name, s.sums.files[name])
	}
	found := append(slices.Clone(ours), s.names("secrets")...)
	for _, step := range s.names("saved") {
		found = append(found, s.names(step)...)
	}
	for _, name := range found {
		if _, known := s.sums.files[name]; !known {
			s.adopt(name)
		}
	}
}

// fresh tells whether no engine of this release has kept a journal there yet.
func fresh(journal string) bool {
	data, err := readKept(journal)
	first, _, _ := strings.Cut(string(data[:min(len(data), 200)]), "\n")
	return errors.Is(err, fs.ErrNotExist) || err == nil && (len(data) == 0 || first == journalV1 || strings.HasPrefix(journalV1, first))
}

// clear removes what a power cut left of a write that was under way.
func (s *stateFolder) clear() {
	_ = clearLeftovers(s.dir, append([]string{
		layout.JournalFile, "sums.jsonl", "report.txt", "report.json", string(session.SignedReport), "hosts.txt", "console-lock.json", "console-before.json", "console-wrong",
	}, ours...)...) // in nobody's way
	_ = clearLeftovers(s.path("secrets"))
	entries, _ := os.ReadDir(s.path("saved"))
	for _, step := range entries {
		if !step.IsDir() {
			_, _ = putAside(s.path("saved", step.Name()), ".unreadable")
			continue
		}
		_ = clearLeftovers(s.path("saved", step.Name()))
	}
}

// lose notes a loss; a later one of the same file replaces an earlier one.
func (s *stateFolder) lose(lost loss) {
	s.losses = slices.DeleteFunc(s.losses, func(l loss) bool { return l.file == lost.file })
	s.losses = append(s.losses, lost)
}

// compare looks at one file whose checksum is known.
func (s *stateFolder) compare(name string, known sum) {
	data, err := readKept(s.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist) && known.is == "": // its first write was cut off, before anybody was told that it is kept
		delete(s.sums.files, name)
	case errors.Is(err, fs.ErrNotExist):
		s.lose(loss{file: name, how: isMissing})
		delete(s.sums.files, name)
	case err != nil:
		s.lose(loss{file: name, how: isUnreadable})
		s.remove(name)
	case !known.right(data):
		s.lose(loss{file: name, how: isChanged})
		if slices.Contains(ours, name) { // what can be read of it is shown
			s.sums.files[name] = sum{is: checksum(data)}
			return
		}
		s.remove(name)
	default:
		s.sums.files[name] = sum{is: checksum(data)}
	}
}

// remove takes away what must not be used. A secret is wiped, anything else renamed.
func (s *stateFolder) remove(name string) {
	delete(s.sums.files, name)
	if info, err := os.Lstat(s.path(name)); err == nil && info.Mode().IsRegular() && strings.HasPrefix(name, "secrets/") {
		_ = host.Wipe(context.Background(), s.path(name)) // a disk that does not even let go of it has been told
		return
	}
	aside, err := putAside(s.path(name), ".unreadable")
	if err != nil || !strings.Contains(name, "/") {
		return
	}
	// Beside the other files of its folder it would be taken for one of them.
	to, err := asideName(s.path(strings.ReplaceAll(name, "/", "-")), ".unreadable")
	if err == nil {
		_ = os.Rename(aside, to)
	}
}

// adopt takes up a file of which no checksum is known. A folder is nothing that was ever kept, so it stays for the wiping.
func (s *stateFolder) adopt(name string) {
	data, err := readKept(s.path(name))
	info, statErr := os.Lstat(s.path(name))
	switch {
	case err == nil:
		s.sums.files[name] = sum{is: checksum(data)}
	case statErr == nil && (!info.IsDir() || slices.Contains(ours, name)):
		s.lose(loss{file: name, how: isUnreadable})
		s.remove(name)
	}
}

// names are what lies in a folder.
func (s *stateFolder) names(folder string) (list []string) {
	entries, _ := os.ReadDir(s.path(folder)) // what cannot be listed holds nothing that can be used
	for _, entry := range entries {
		list = append(list, filepath.Join(folder, entry.Name()))
	}
	return list
}

// acceptLosses writes the checksums of what the audit left. Losses are forgotten by that, so they are recorded first.
func (s *stateFolder) acceptLosses() {
	s.losses = nil
	_ = s.sums.rewrite() // tried again when the next file is written, which then fails and tells why
}
