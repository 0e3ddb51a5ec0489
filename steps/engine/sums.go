package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/steps/event"
)

// sums tells what the other files of the state folder hold, so that what a disk lost or changed is seen. It is a file of lines
// like the journal. A content is announced before it is written and confirmed afterwards: after a power cut in between both
// the old and the new one are right.
type sums struct {
	path  string
	log   *journal // nil while it cannot be written
	files map[string]sum
	mark  *mark // where the journal was
	bad   bool  // a line of it could not be read
	there bool  // the file was there, with a line at least
}

// sum is what is known of one file: the checksum of its content, and of those that were on their way.
type sum struct {
	is  string
	may []string
}

// mark is where the journal was, and the job with it.
type mark struct {
	Seq uint64    `json:"seq"`
	Job event.Job `json:"job"`
}

// sumLine is one line: a file's checksum (announced or confirmed), that it is gone, or where the journal is.
type sumLine struct {
	File    string `json:"file,omitempty"` // below the state folder; with Gone also a folder, which ends with /
	Will    string `json:"will,omitempty"`
	Is      string `json:"is,omitempty"`
	Gone    bool   `json:"gone,omitempty"`
	Journal *mark  `json:"journal,omitempty"`
}

// wellFormed tells whether a line is about a file below the state folder, or the journal. The records of the journal have
// checksums too, and a disk may put them here.
func (l sumLine) wellFormed() bool {
	name := strings.TrimSuffix(l.File, "/")
	return l.Journal != nil && tellsState(&l.Journal.Job) || filepath.IsLocal(name) && name != "." && (l.Gone || l.Is != "" || l.Will != "")
}

// openSums reads the sums. It does not write them: acceptLosses does.
func openSums(path string) *sums {
	s := &sums{path: path, files: map[string]sum{}}
	data, err := readKept(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s
	case err != nil:
		s.there, s.bad = true, true
		_, _ = putAside(path, ".unreadable") // in the way of the next one only
		return s
	}
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // cut off while it was written
		}
		s.there = true // only the first engine of a folder leaves it without a line
		var l sumLine
		record, ok := unseal(line)
		if !ok || json.Unmarshal(record, &l) != nil || !l.wellFormed() {
			s.bad = true
			continue
		}
		s.apply(l)
	}
	return s
}

func (s *sums) apply(l sumLine) {
	switch {
	case l.Journal != nil:
		s.mark = l.Journal
	case l.Gone:
		maps.DeleteFunc(s.files, func(name string, _ sum) bool {
			return name == l.File || strings.HasSuffix(l.File, "/") && strings.HasPrefix(name, l.File)
		})
	case l.Is != "":
		s.files[l.File] = sum{is: l.Is}
	default:
		known := s.files[l.File]
		s.files[l.File] = sum{known.is, append(slices.Clone(known.may), l.Will)}
	}
}

// add writes lines; when durable they are on the disk before it returns.
func (s *sums) add(durable bool, lines ...sumLine) error {
	var out []byte
	for _, l := range lines {
		record, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("encoding a checksum: %w", err)
		}
		out = append(out, seal(record)...)
	}
	if s.log == nil {
		if err := s.rewrite(); err != nil {
			return journalProblem(err)
		}
	}
	if len(out) == 0 {
		return nil
	}
	if err := s.log.write(out, durable); err != nil {
		return err
	}
	for _, l := range lines {
		s.apply(l)
	}
	return nil
}

// rewrite replaces the file by one that tells the same in as few lines as possible.
func (s *sums) rewrite() error {
	var lines []sumLine
	if s.mark != nil {
		lines = append(lines, sumLine{Journal: s.mark})
	}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		known := s.files[name]
		if known.is != "" {
			lines = append(lines, sumLine{File: name, Is: known.is})
		}
		for _, may := range known.may {
			lines = append(lines, sumLine{File: name, Will: may})
		}
	}
	out := []byte{}
	for _, l := range lines {
		record, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("encoding a checksum: %w", err)
		}
		out = append(out, seal(record)...)
	}
	if err := host.WriteFileAtomic(s.path, out, 0o600); err != nil {
		return fmt.Errorf("writing the checksums: %w", err)
	}
	file, err := openKept(s.path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return fmt.Errorf("opening the checksums: %w", err)
	}
	s.close()
	s.log, s.bad, s.there = &journal{file: file, size: int64(len(out))}, false, true
	return nil
}

func (s *sums) close() {
	if s.log != nil {
		_ = s.log.file.Close() // each line that matters is on the disk
		s.log = nil
	}
}

// right tells whether a content is one that was written.
func (s sum) right(data []byte) bool {
	now := checksum(data)
	return now == s.is || slices.Contains(s.may, now)
}

// will announces contents, by file.
func (s *sums) will(files map[string][]byte) error {
	var lines []sumLine
	for _, name := range slices.Sorted(maps.Keys(files)) {
		lines = append(lines, sumLine{File: name, Will: checksum(files[name])})
	}
	return s.add(true, lines...)
}

// are confirms contents. What is not confirmed is still known as announced, so a failure is not a loss.
func (s *sums) are(files map[string][]byte) {
	var lines []sumLine
	for _, name := range slices.Sorted(maps.Keys(files)) {
		lines = append(lines, sumLine{File: name, Is: checksum(files[name])})
	}
	_ = s.add(false, lines...)
}

// journalled tells where the journal is.
func (s *sums) journalled(m mark, durable bool) { _ = s.add(durable, sumLine{Journal: &m}) } // an older one is not a loss

// gone is told before a file, or a folder (its name ends with /), is removed.
func (s *sums) gone(names ...string) error {
	var lines []sumLine
	for _, name := range names {
		lines = append(lines, sumLine{File: name, Gone: true})
	}
	return s.add(true, lines...)
}
