package volume

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// source is the device, which is read only within its size and up to a limit in all.
type source struct {
	device io.ReaderAt
	size   int64 // bytes
	left   int64 // bytes that may still be read
}

// at reads n bytes at an offset, both as a volume says them.
func (s *source) at(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > s.size || n > s.size-offset {
		return nil, damaged(message.F("it points beyond its end, %d bytes at %d of %d", n, offset, s.size))
	}
	if s.left -= n; s.left < 0 {
		return nil, damaged(message.F("more than %d MiB would have to be read for its list of files", maxRead>>20))
	}
	b := make([]byte, n)
	if got, err := s.device.ReadAt(b, offset); int64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, &problem.Problem{
			Code: "MED-READ", Summary: message.T("The volume cannot be read."),
			Fix: message.T("Take it out and put it in again, or use another socket; if that does not help, use another stick."),
			Err: fmt.Errorf("reading %d bytes at %d: %w", n, offset, err),
		}
	}
	return b, nil
}

// blocks reads single bytes of the device, which lie near each other.
type blocks struct {
	from *source
	last []byte // that was read
	at   int64  // its offset; -1: none was read yet
}

// blockSize is how much is read at once, in bytes.
const blockSize = 4 << 10

func (b *blocks) byte(at int64) (byte, error) {
	if block := at / blockSize * blockSize; block != b.at {
		read, err := b.from.at(block, min(blockSize, b.from.size-block))
		if err != nil {
			return 0, err
		}
		b.last, b.at = read, block
	}
	return b.last[at-b.at], nil
}

// damaged is the error of a volume that contradicts itself.
func damaged(why message.Text) error {
	return &problem.Problem{
		Code: "MED-BAD", Summary: message.F("The volume is damaged, or was made to look like one: %s.", why),
		Fix: message.T("Write it again with touchdown media write, or use another stick."),
	}
}

// unread is the error of a volume of a kind that is not read.
func unread(what, fix message.Text) error {
	return &problem.Problem{Code: "MED-KND", Summary: message.F("The volume %s.", what), Fix: fix}
}

const remake = "Use a stick with FAT (vfat) or an ISO9660 image: touchdown media write makes both."

// signatures are what tells the file systems apart that sticks have, and what to do about those that are not read.
var signatures = []struct {
	offset    int64
	magic     string
	what, fix message.Text
}{
	{3, "NTFS    ", message.T("has the file system NTFS, which is not read"), message.T(remake)},
	{1080, "\x53\xef", message.T("has the file system ext, which is not read"), message.T(remake)},
	{0, "XFSB", message.T("has the file system XFS, which is not read"), message.T(remake)},
	{0, "LUKS\xba\xbe", message.T("is encrypted with LUKS, which is not read"), message.T(remake)},
	{512, "EFI PART", message.T("is a whole disk with partitions"), message.T("Name the partition, for example /dev/sdb1 instead of /dev/sdb.")},
}

// identify tells what a volume is.
func identify(s *source) (system, error) {
	if s.size < 1<<10 {
		return nil, unread(message.F("has only %d bytes", s.size), message.T(remake))
	}
	head, err := s.at(0, min(s.size, 2<<10))
	if err != nil { // as of a drive without a medium, which still has a size
		return nil, &problem.Problem{
			Code: "MED-BLNK", Summary: message.T("Nothing can be read: the drive is empty, or the medium is damaged at its beginning."),
			Fix: message.T("Put the medium in, or use another one."), Err: err,
		}
	}
	if fs, err := openISO(s); fs != nil || err != nil {
		return fs, err
	}
	if bytes.HasPrefix(head[3:], []byte("EXFAT   ")) {
		return openExFAT(s, head)
	}
	for _, g := range signatures {
		if g.offset < int64(len(head)) && bytes.HasPrefix(head[g.offset:], []byte(g.magic)) {
			return nil, unread(g.what, g.fix)
		}
	}
	switch {
	case binary.LittleEndian.Uint16(head[510:]) != 0xaa55:
		return nil, unread(message.T("has no file system that Touchdown knows"), message.T(remake))
	case head[0] != 0xeb && head[0] != 0xe9 && hasPartitions(head):
		return nil, unread(message.T("is a whole disk with partitions"), message.T("Name the partition, for example /dev/sdb1 instead of /dev/sdb."))
	}
	return openFAT(s, head[:512])
}

// hasPartitions tells whether the first sector is that of a disk: its table has entries, all with a status that there is.
func hasPartitions(sector []byte) bool {
	used := false
	for e := sector[446:510]; len(e) > 0; e = e[16:] {
		if e[0] != 0 && e[0] != 0x80 {
			return false
		}
		used = used || e[4] != 0
	}
	return used
}
