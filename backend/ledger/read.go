package ledger

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"syscall"
)

// Limits of what is read. A line has about 2 KiB; the ledger of a million nodes is below the other limit.
const (
	maxLine   = 64 << 10
	maxLedger = 4 << 30
)

// reading is what all lines of a ledger say together.
type reading struct {
	sum   hash.Hash // of the entries so far
	good  int64     // bytes up to the end of the last whole entry; what follows was torn when a stick was pulled
	ended bool      // that entry has its line end
}

// visit is called for each entry: its line, what was read from it, and the digest of the lines before it.
type visit func(before string, line []byte, e Entry) error

// scan reads a ledger from its beginning to its end.
func scan(path string, each visit) (reading, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return reading{}, unusable(path, err)
	}
	defer f.Close()
	is, err := read(f, each)
	if err != nil {
		return reading{}, unusable(path, err)
	}
	return is, nil
}

// read goes through the entries of a ledger. Each that has the digest of the lines before it is held to it.
func read(f *os.File, each visit) (is reading, err error) {
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxLedger) {
		err = errors.New("it is not a regular file of at most 4 GiB")
	}
	if err != nil {
		return is, err
	}
	is.sum, is.ended = sha256.New(), true
	lines := bufio.NewReaderSize(f, maxLine)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		whole := err == nil
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return is, nil
		case err != nil && !errors.Is(err, io.EOF):
			return is, fmt.Errorf("line %d: %w", n, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			err := is.take(n, text, each)
			if err != nil && !whole && torn(line) {
				return is, nil
			}
			if err != nil {
				return is, fmt.Errorf("line %d: %w", n, err)
			}
		}
		is.good, is.ended = is.good+int64(len(line)), whole
	}
}

// take reads the entry in a line, and holds it to the lines before it.
func (is *reading) take(n int, line []byte, each visit) error {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return errors.New("it is not an entry of a ledger")
	}
	if e.Format < 1 || e.Format > format {
		return fmt.Errorf("this release does not know format %d", e.Format)
	}
	before := is.digest()
	if e.Before != "" && e.Before != before {
		return &broken{n}
	}
	if err := each(before, line, e); err != nil {
		return err
	}
	is.sum.Write(line)
	is.sum.Write([]byte{'\n'})
	return nil
}

// digest is the SHA-256 of the entries so far, each with its line end. Empty lines and the line ends of other systems are not a change.
func (is *reading) digest() string { return hex.EncodeToString(is.sum.Sum(nil)) }

// ours is how each line of this format begins.
var ours = fmt.Appendf(nil, `{"format":%d,"sealed":"`, format)

// torn tells whether a last line without an end is the beginning of one that this release wrote. Everything else may be of a later
// release, or no ledger at all, and is not ours to cut off.
func torn(line []byte) bool {
	var o any
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&o)
	return errors.Is(err, io.ErrUnexpectedEOF) && bytes.HasPrefix(line, ours[:min(len(line), len(ours))]) && len(line) >= len(`{"format":`)
}
