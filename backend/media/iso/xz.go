package iso

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

const xzMagic = "\xfd7zXZ\x00"

// xzStream is a stream of blocks (xz file format 1.1.0). coreos-installer makes a block of each file.
type xzStream struct {
	check   byte // the kind of check
	blocks  uint64
	records []byte // of the index: two numbers for each block
	data    []byte // decompressed
}

// unxz decompresses a stream, and returns what follows it. The library's own reader takes as much memory as the header of any block asks
// for. Here the library reads the data of blocks only, with a window of limit bytes: nothing can refer farther back than to the beginning.
// Each block takes one of blocks.
func unxz(area []byte, limit int64, blocks *int) (data, rest []byte, err error) {
	if len(area) < 12 || string(area[:6]) != xzMagic || area[6] != 0 || !summed(area[6:12]) {
		return nil, nil, errors.New("xz: the header of the stream is damaged")
	}
	s := xzStream{check: area[7]}
	for area = area[12:]; len(area) > 0 && area[0] != 0; *blocks-- {
		if *blocks <= 0 {
			return nil, nil, fmt.Errorf("xz: more than %d blocks", maxBlocks)
		}
		if area, err = s.block(area, limit-int64(len(s.data))); err != nil {
			return nil, nil, fmt.Errorf("xz: %w", err)
		}
	}
	end := s.end()
	if !bytes.HasPrefix(area, end) {
		return nil, nil, errors.New("xz: the index or the footer is damaged, or it is cut off")
	}
	return s.data, area[len(end):], nil
}

// block decompresses a block, and returns what follows it.
func (s *xzStream) block(area []byte, limit int64) ([]byte, error) {
	header, sizes, err := xzHeader(area)
	if err != nil {
		return nil, err
	}
	body := area[header:]
	from := bytes.NewReader(body) // the library reads it byte by byte, and not beyond the block
	var data []byte
	r, err := lzma.Reader2Config{DictCap: int(max(limit, lzma.MinDictCap))}.NewReader2(from)
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(r, limit+1))
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("decompressing: %w", err)
	case int64(len(data)) > limit:
		return nil, tooLarge()
	case !r.EOS():
		return nil, errors.New("it is cut off")
	}
	packed := len(body) - from.Len()
	if sizes[0] >= 0 && sizes[0] != packed || sizes[1] >= 0 && sizes[1] != len(data) {
		return nil, errors.New("a block has another size than its header says")
	}
	sum, err := s.sum(data)
	if err != nil {
		return nil, err
	}
	padded := append(make([]byte, -packed&3), sum...)
	if !bytes.HasPrefix(body[packed:], padded) {
		return nil, errors.New("the content is damaged, or it is cut off")
	}
	s.blocks++
	s.records = binary.AppendUvarint(s.records, uint64(header+packed+len(sum)))
	s.records = binary.AppendUvarint(s.records, uint64(len(data)))
	s.data = append(s.data, data...)
	return body[packed+len(padded):], nil
}

// xzHeader reads the header of a block: its length, and the compressed and decompressed size of the block, -1 where it does not tell.
func xzHeader(area []byte) (length int, sizes [2]int, err error) {
	length, sizes = (int(area[0])+1)*4, [2]int{-1, -1}
	if len(area) < length || !summed(area[:length]) {
		return 0, sizes, errors.New("the header of a block is damaged")
	}
	flags, fields := area[1], area[2:length-4]
	for n := range sizes {
		if flags&(0x40<<n) == 0 {
			continue
		}
		size, bytes := binary.Uvarint(fields)
		if bytes <= 0 || size > maxArea {
			return 0, sizes, errors.New("a block is too large")
		}
		sizes[n], fields = int(size), fields[bytes:]
	}
	// One filter, LZMA2. Its one byte says how large the window is, which does not matter here.
	if flags&0x3f != 0 || len(fields) < 3 || fields[0] != 0x21 || fields[1] != 1 || len(bytes.Trim(fields[3:], "\x00")) > 0 {
		return 0, sizes, errors.New("it has a filter other than LZMA2")
	}
	return length, sizes, nil
}

// sum is the check of a block.
func (s *xzStream) sum(data []byte) ([]byte, error) {
	switch s.check {
	case 0:
		return nil, nil
	case 1:
		return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(data)), nil
	case 4:
		return binary.LittleEndian.AppendUint64(nil, crc64.Checksum(data, crc64.MakeTable(crc64.ECMA))), nil
	case 10:
		sum := sha256.Sum256(data)
		return sum[:], nil
	}
	return nil, fmt.Errorf("it has the unknown check %d", s.check)
}

// end is what has to follow the blocks: the index and the footer. All that they say is known by then.
func (s *xzStream) end() []byte {
	index := append(binary.AppendUvarint([]byte{0}, s.blocks), s.records...)
	index = append(index, make([]byte, -len(index)&3)...)
	index = binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(index))
	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), 0, s.check)
	return append(append(binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(footer)), footer...), "YZ"...)
}

// summed tells whether the last four bytes are the CRC32 of the others.
func summed(b []byte) bool {
	at := len(b) - 4
	return binary.LittleEndian.Uint32(b[at:]) == crc32.ChecksumIEEE(b[:at])
}
