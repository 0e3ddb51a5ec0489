package store

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/vbatts/tar-split/tar/storage"
	"golang.org/x/sys/unix"
)

const (
	// maxLine is how long a line of a tar-split may be: its writer cuts what is not a file into pieces of 1 MiB, and base64
	// makes them a third longer.
	maxLine = 4 << 20
	// maxEntries is how many files one layer may have. The largest images have 300,000.
	maxEntries = 8 << 20
	tarBlock   = 512 // bytes of a header of tar; files are filled up to whole blocks
)

// errSplit is a tar-split that its writer did not leave so.
var errSplit = errors.New("it is not a tar-split")

// split reads a tar-split, piece by piece, as written by anybody.
type split struct {
	file    *os.File
	unzip   *gzip.Reader
	lines   *bufio.Reader
	long    []byte // a line that is longer than the reader's buffer
	payload []byte // of the last segment
	count   int
}

func (s *split) close() { s.file.Close() }

// next gives the next piece: bytes of the tar that belong to no file, or a file. The piece is good until the next call.
func (s *split) next() (storage.Entry, error) {
	line, err := s.line()
	if err != nil {
		return storage.Entry{}, err
	}
	if payload, ok := segment(line); ok {
		s.payload, err = base64.StdEncoding.AppendDecode(s.payload[:0], payload)
		if err != nil {
			return storage.Entry{}, fmt.Errorf("%w: %w", errSplit, err)
		}
		return storage.Entry{Type: storage.SegmentType, Payload: s.payload}, nil
	}
	e, ok := file(line)
	if !ok {
		if err := json.Unmarshal(line, &e); err != nil {
			return e, fmt.Errorf("%w: %w", errSplit, err)
		}
	}
	if s.count++; s.count > maxEntries {
		return e, fmt.Errorf("%w: more than %d files", errSplit, maxEntries)
	}
	if e.Type != storage.FileType && e.Type != storage.SegmentType || e.Size < 0 {
		return e, fmt.Errorf("%w: type %d, size %d", errSplit, e.Type, e.Size)
	}
	return e, nil
}

func (s *split) line() ([]byte, error) {
	s.long = s.long[:0]
	for {
		piece, err := s.lines.ReadSlice('\n')
		if err == nil && len(s.long) == 0 {
			return piece, nil
		}
		if len(s.long)+len(piece) > maxLine {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", errSplit, maxLine)
		}
		s.long = append(s.long, piece...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(s.long) > 0:
			return s.long, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, fmt.Errorf("%w: %w", errSplit, err)
		}
	}
}

// header is what a tar says of a file just before it.
type header struct {
	last  [tarBlock]byte // the last block before the file
	bytes int64          // since the file before
	fill  int64          // of them that fill up the file before
}

// segment takes bytes that belong to no file.
func (h *header) segment(b []byte) {
	h.bytes += int64(len(b))
	if len(b) >= tarBlock {
		copy(h.last[:], b[len(b)-tarBlock:])
		return
	}
	copy(h.last[:], h.last[len(b):])
	copy(h.last[tarBlock-len(b):], b)
}

// file ends the header with its file, of so many bytes.
func (h *header) file(size int64) {
	h.bytes = 0
	h.fill = (tarBlock - size%tarBlock) % tarBlock
}

// kind is the type of the file, or 0 where the last block before it is not a header.
func (h *header) kind() byte {
	sum, err := strconv.ParseInt(strings.Trim(string(h.last[148:156]), " \x00"), 8, 64)
	if err != nil {
		return 0
	}
	for n, b := range h.last {
		if n >= 148 && n < 156 {
			b = ' '
		}
		sum -= int64(b)
	}
	if sum != 0 {
		return 0
	}
	if h.last[156] == 0 {
		return '0'
	}
	return h.last[156]
}

// target is where a link leads to, where one block says it all.
func (h *header) target() (string, bool) {
	if h.bytes != h.fill+tarBlock {
		return "", false
	}
	name, _, cut := bytes.Cut(h.last[157:257], []byte{0})
	return string(name), cut
}

// inside makes a name of a tar one below the layer's folder. ok is false for names that lead out of it.
func inside(name string) (clean string, ok bool) {
	if strings.ContainsRune(name, 0) || len(name) >= 2*unix.PathMax {
		return "", false
	}
	clean = path.Clean(strings.TrimLeft(name, "/"))
	return clean, clean != ".." && !strings.HasPrefix(clean, "../")
}
