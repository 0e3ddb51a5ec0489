package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// The files of a report. Sums is what sha256sum -c reads. The signed report is not among them: it proves itself, and releases before
// it refuse what they do not know.
const (
	TextFile  = "report.txt"
	JSONFile  = "report.json"
	JUnitFile = "report.junit.xml"
	HostsFile = "hosts.txt" // of a landing: what its clients need to find it
	Sums      = "SHA256SUMS"

	SignedFile   = "report.signed.json"          // the report in a signed envelope
	FollowedFile = "report.previous.signed.json" // the one that it took the place of
)

// Folder keeps the report in a directory.
type Folder struct {
	Dir   string
	Write func(...host.File) error // nil: host.WriteFilesAtomic

	// Sign makes the signed report of a report's JSON; nil: the report is not signed.
	Sign func(json []byte) ([]byte, error)

	// Extends tells whether a signed report is what Sign made, with the signature of a second person behind it; nil: none has one.
	Extends func(have, signed []byte) bool
	// Since is when the job began: a second signature of an earlier report was given for another job, and counts no more.
	Since time.Time
}

// Save writes all files of the report, or none. When the report that is there tells the same, it stays to the byte, so
// that a repeated hand-over changes no fingerprint that someone has noted. What a second person has signed in this job stays also where
// something else was measured since, with the same verdicts: the work goes through its steps again after a power cut, which is no reason to
// have them sign again.
func (s Folder) Save(d *Document) error {
	if old, err := s.Open(); err == nil {
		again := *d
		again.Made, again.Previous = old.Made, old.Previous
		both := s.countersigned(old)
		if both {
			again.measuredAs(old)
		}
		if same(old, &again) && (!both || !old.Made.Before(s.Since.Truncate(time.Second))) { // a report has whole seconds
			d = &again
			if !s.unsigned(d) {
				return s.retire()
			}
		}
	}
	files, err := s.files(d)
	if err != nil {
		return err
	}
	write := s.Write
	if write == nil {
		write = host.WriteFilesAtomic
	}
	if err := write(files...); err != nil {
		return unwritten(err)
	}
	return s.retire()
}

// KeepSigned puts an envelope with one signature more in the place of the signed report.
func (s Folder) KeepSigned(signed []byte) error {
	write := s.Write
	if write == nil {
		write = host.WriteFilesAtomic
	}
	if err := write(host.File{Path: filepath.Join(s.Dir, SignedFile), Data: signed, Perm: 0o600}); err != nil {
		return unwritten(err)
	}
	return nil
}

// retire moves the signed report of an earlier one out of the way of a report that is not signed: it would pass for that of this one.
func (s Folder) retire() error {
	if s.Sign != nil {
		return nil
	}
	err := os.Rename(filepath.Join(s.Dir, SignedFile), filepath.Join(s.Dir, FollowedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = host.SyncDir(s.Dir)
	}
	if err != nil && !errors.Is(err, syscall.EINVAL) { // a file system that syncs no folders
		return unwritten(err)
	}
	return nil
}

// unsigned tells whether the signed report is not what it has to be. Signing a report again gives the same bytes.
func (s Folder) unsigned(d *Document) bool {
	if s.Sign == nil {
		return false
	}
	have, want := s.signed(d)
	return want == nil || !bytes.Equal(have, want) && !s.extends(have, want)
}

// countersigned tells whether the signed report is that of a document, and has a second signature.
func (s Folder) countersigned(d *Document) bool {
	if s.Sign == nil {
		return false
	}
	have, want := s.signed(d)
	return want != nil && s.extends(have, want)
}

func (s Folder) extends(have, want []byte) bool { return s.Extends != nil && s.Extends(have, want) }

// signed is the signed report that is there, and what it has to be; nil where there is none, or a document cannot be signed.
func (s Folder) signed(d *Document) (have, want []byte) {
	raw, err := d.JSON()
	if err != nil {
		return nil, nil
	}
	if want, err = s.Sign(raw); err != nil {
		return nil, nil
	}
	have, whole, err := host.ReadRegular(filepath.Join(s.Dir, SignedFile), 2*MaxJSON)
	if err != nil || !whole {
		return nil, want
	}
	return have, want
}

// measuredAs takes over from a report with the same steps and checks how long each step took, how often the API was written to, and what
// each check saw that came to the same verdict.
func (d *Document) measuredAs(old *Document) {
	if !slices.EqualFunc(d.Steps, old.Steps, func(a, b Step) bool { return a.ID == b.ID }) ||
		!slices.EqualFunc(d.Checks, old.Checks, func(a, b Check) bool { return a.Step == b.Step && a.ID == b.ID }) {
		return
	}
	d.APIWrites, d.Steps, d.Checks = old.APIWrites, slices.Clone(d.Steps), slices.Clone(d.Checks)
	for i := range d.Steps {
		d.Steps[i].Seconds = old.Steps[i].Seconds
	}
	for i := range d.Checks {
		if now, was := &d.Checks[i], old.Checks[i]; now.Status == was.Status {
			now.Observed, now.Fix, now.Evidence = was.Observed, was.Fix, was.Evidence
		}
	}
}

// followed is the signed report whose place a new one takes, nil where it follows another one or none.
func (s Folder) followed(d *Document) []byte {
	last, _ := s.Last(d.Node.Serial)
	if last == nil || d.Previous == nil || *last != *d.Previous {
		return nil
	}
	old, whole, err := host.ReadRegular(filepath.Join(s.Dir, SignedFile), 2*MaxJSON)
	if err != nil || !whole {
		return nil
	}
	return old
}

// Last is the report that is there, as the next one of the same machine names it, and the report itself; nil when there is none, or of
// another machine.
func (s Folder) Last(serial string) (last *Previous, d *Document) {
	d, err := s.Open()
	if err != nil || serial == "" || d.Node.Serial != serial {
		return nil, nil
	}
	raw, err := os.ReadFile(filepath.Join(s.Dir, JSONFile))
	if err != nil {
		return nil, nil
	}
	return &Previous{SHA256: Digest(raw), Kind: d.Kind, Made: d.Made}, d
}

// Digest is the SHA-256 of the JSON of a report, in hexadecimal digits: what a signature, the next report and people name it by.
func Digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func (s Folder) files(d *Document) ([]host.File, error) {
	raw, err := d.JSON()
	if err != nil {
		return nil, err
	}
	text := d.Text()
	junit, err := d.JUnit()
	if err != nil {
		return nil, err
	}
	files := []host.File{
		{Path: JSONFile, Data: raw},
		{Path: TextFile, Data: text},
		{Path: JUnitFile, Data: junit},
	}
	if d.Kind != Factory {
		files = append(files, host.File{Path: HostsFile, Data: d.HostsText()})
	}
	files = append(files, host.File{Path: Sums, Data: sums(files)})
	if s.Sign != nil {
		signed, err := s.Sign(raw)
		if err != nil {
			return nil, err
		}
		files = append(files, host.File{Path: SignedFile, Data: signed})
		if old := s.followed(d); old != nil {
			files = append(files, host.File{Path: FollowedFile, Data: old})
		}
	}
	for i := range files {
		files[i].Path, files[i].Perm = filepath.Join(s.Dir, files[i].Path), 0o600
	}
	return files, nil
}

// Open reads the report, and refuses one whose files do not fit together.
func (s Folder) Open() (*Document, error) {
	read := func(name string) ([]byte, error) {
		b, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil {
			return nil, fmt.Errorf("opening the report: %w", err)
		}
		return b, nil
	}
	told, err := read(Sums)
	if err != nil {
		return nil, err
	}
	var files []host.File
	for _, name := range []string{JSONFile, TextFile, JUnitFile, HostsFile} {
		if name == HostsFile && !bytes.Contains(told, []byte("  "+HostsFile+"\n")) {
			continue // of the factory, or of an earlier release
		}
		b, err := read(name)
		if err != nil {
			return nil, err
		}
		files = append(files, host.File{Path: name, Data: b})
	}
	// Not by making the text again: a later Touchdown may word it otherwise.
	if !bytes.Equal(told, sums(files)) {
		return nil, fmt.Errorf("opening the report: it was changed: %w", fs.ErrInvalid)
	}
	d := &Document{}
	if err := json.Unmarshal(files[0].Data, d); err != nil {
		return nil, fmt.Errorf("opening the report: %w", err)
	}
	if d.Schema != Schema {
		return nil, fmt.Errorf("opening the report: its schema is %q, not %s: %w", d.Schema, Schema, fs.ErrInvalid)
	}
	return d, nil
}

func sums(files []host.File) (lines []byte) {
	for _, f := range files {
		lines = fmt.Appendf(lines, "%x  %s\n", sha256.Sum256(f.Data), f.Path)
	}
	return lines
}

func same(a, b *Document) bool {
	x, errX := a.JSON()
	y, errY := b.JSON()
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func unwritten(err error) error {
	p := &problem.Problem{
		Code: "RPT-SAVE", Summary: message.T("The hand-over report could not be written."),
		Fix: message.T("Retry; if it fails again, make a support bundle."), Err: err,
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		p.Code, p.Summary, p.Fix = "RPT-FULL", message.T("The disk is full: the hand-over report could not be written."), message.T("Free some space on /var, then retry.")
	}
	return p
}
