// Package transcript keeps what the consoles of a node showed and what was pressed there, for support: the end of it, in two files of the
// state folder. It is worth nothing to the work, so nothing that goes wrong with it stops anything.
package transcript

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"touchdown/backend/layout"
)

// Limits. Chosen: a page is 1 to 2 kB and each key changes a line or two, so that a file holds hours of work at a console. A console
// that is idle sends nothing. Nothing is synced: the kernel writes once for many records, and what a power cut takes are seconds.
const (
	// mostFile is the size in bytes of the newer file from which on it becomes the earlier one.
	mostFile = 512 << 10
	// MostRecord bounds what is taken at once, in bytes; the rest is left out.
	MostRecord = 32 << 10
	// mostHour bounds what is written in an hour, in bytes: noise on a serial line must not wear the disk down.
	mostHour = 2 << 20
	// mostKept is how much of the end is kept in memory while the disk takes nothing, in bytes.
	mostKept = 128 << 10
)

// Log is the transcript of all consoles.
type Log struct {
	dir string
	now func() time.Time

	mu      sync.Mutex
	kept    string    // what the disk did not take, or its end
	hour    time.Time // when the hour began that is counted, by a clock that nobody sets
	written int       // bytes since then
}

// Open is the transcript in a state folder.
func Open(dir string, now func() time.Time) *Log { return &Log{dir: dir, now: now, hour: time.Now()} }

// Add keeps what a console tells. What is not kept, because there is too much of it or because the disk is full, is said in its place.
func (l *Log) Add(console, text string) {
	if len(text) > MostRecord {
		text = strings.ToValidUTF8(text[:MostRecord], "") + "\n... the rest is left out"
	}
	var record strings.Builder
	fmt.Fprintf(&record, "== %s %s\n", l.now().UTC().Format(time.RFC3339), name(console))
	for line := range strings.Lines(text) {
		record.WriteString(strings.TrimRight(line, "\r\n ") + "\n")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.hour) > time.Hour {
		l.hour, l.written = time.Now(), 0
	}
	before := l.written
	if l.written += record.Len(); l.written > mostHour {
		if before > mostHour {
			return
		}
		record.Reset()
		record.WriteString("... too much in one hour; the rest of it is left out\n")
	}
	l.kept += record.String()
	if l.write(l.kept) == nil {
		l.kept = ""
	} else if over := len(l.kept) - mostKept; over > 0 {
		_, l.kept, _ = strings.Cut(l.kept[over:], "\n")
	}
}

// name is a console's, as one word of a line.
func name(console string) string {
	word := strings.Join(strings.Fields(console), "-")
	return strings.ToValidUTF8(word[:min(len(word), 64)], "")
}

// write appends to the newer file.
func (l *Log) write(text string) error {
	f, err := open(filepath.Join(l.dir, layout.Transcript), os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 && info.Size()+int64(len(text)) > mostFile {
		_ = f.Close()
		if err := os.Rename(f.Name(), filepath.Join(l.dir, layout.EarlierTranscript)); err != nil {
			return err // nobody reads it
		}
		return l.write(text)
	}
	n, err := f.WriteString(text)
	if err != nil && n > 0 && info != nil {
		_ = f.Truncate(info.Size()) // it is written again with the next record
	}
	return errors.Join(err, f.Close())
}

// Read is the end of the transcript, at most limit bytes of it, with what the disk did not take.
func (l *Log) Read(limit int) []byte {
	l.mu.Lock()
	kept := l.kept
	l.mu.Unlock()
	all := append(Files(l.dir), kept...)
	if over := len(all) - limit; over > 0 {
		_, rest, _ := strings.Cut(string(all[over:]), "\n")
		return []byte(rest)
	}
	return all
}

// Files is what lies in a state folder, the earlier file first.
func Files(dir string) (all []byte) {
	for _, name := range []string{layout.EarlierTranscript, layout.Transcript} {
		f, err := open(filepath.Join(dir, name), os.O_RDONLY)
		if err != nil {
			continue
		}
		data, _ := io.ReadAll(io.LimitReader(f, 2*mostFile)) // what can be read
		_ = f.Close()
		all = append(all, data...)
	}
	return all
}

// open opens a file of ours, readable by root alone. A link is not followed, and a pipe does not block.
func open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err // nobody reads it
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, errors.New("it is not a regular file")
	}
	return f, nil
}
