package volume

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"touchdown/backend/host"
)

// File is a file in the root folder of a volume that is written.
type File struct {
	Name string // at most 64 characters of ASCII
	Data []byte
}

// Image is a volume to write: its first bytes, and how many it has with the zeros behind them.
type Image struct {
	Head []byte
	Size int64
}

// maxFiles and maxName bound what is written: a handful of files with names that Joliet can hold.
const (
	maxFiles = 16
	maxName  = 64
)

// judge refuses labels and files that a volume cannot have.
func judge(label string, most, largest int, files []File) error {
	if label == "" || len(label) > most || strings.ToUpper(label) != label {
		return fmt.Errorf("writing a volume: the label %q is not 1 to %d capital letters", label, most)
	}
	if len(files) > maxFiles {
		return fmt.Errorf("writing a volume: %d files, at most %d", len(files), maxFiles)
	}
	for _, f := range files {
		err := host.FileName(f.Name)
		switch {
		case err != nil:
		case len(f.Name) > maxName || strings.ContainsFunc(f.Name, func(r rune) bool { return r > 0x7e }) || strings.ContainsAny(f.Name, `"*/:<>?\|`):
			err = fmt.Errorf("a file name has more than %d characters, or some that FAT does not allow", maxName)
		case len(f.Data) > largest:
			err = fmt.Errorf("%s has more than %d bytes", f.Name, largest)
		}
		if err != nil {
			return fmt.Errorf("writing a volume: %w", err)
		}
	}
	return nil
}

// The FAT16 that is written. It is small, so that a thousand of them are quickly made, and has room for a report.
const (
	fatSize    = 8 << 20
	fatSector  = 512
	fatCluster = 2 * fatSector
	fatTable   = 32 // sectors of a table: 2 bytes for each of fatSize/fatCluster clusters
	fatRoot    = 512
	fatData    = (1 + 2*fatTable + fatRoot*entrySize/fatSector) * fatSector // offset of the first cluster
	fatDate    = 1<<5 | 1                                                   // 1980-01-01: no clock is trusted, and the same input gives the same bytes
)

// WriteFAT makes a FAT16 volume of 8 MiB without partitions, with files in its root folder. The label has at most 11 characters.
func WriteFAT(label string, files []File) (*Image, error) {
	if err := judge(label, 11, MaxFile, files); err != nil {
		return nil, err
	}
	need := fatData
	for _, f := range files {
		need += (len(f.Data) + fatCluster - 1) / fatCluster * fatCluster
	}
	if need > fatSize {
		return nil, errors.New("writing a volume: the files do not fit on it")
	}
	b := make([]byte, need)
	sum := sha256.New()
	le := binary.LittleEndian
	table := make([]byte, fatTable*fatSector)
	le.PutUint16(table, 0xfff8)
	le.PutUint16(table[2:], 0xffff)
	root := fatLabel(label)
	cluster := 2
	for i, f := range files {
		sum.Write(f.Data)
		first := 0
		if len(f.Data) > 0 {
			first = cluster
		}
		root = append(root, fatEntries(f, i, first)...)
		copy(b[fatData+(cluster-2)*fatCluster:], f.Data)
		for left := len(f.Data); left > 0; left -= fatCluster {
			next := cluster + 1
			if left <= fatCluster {
				next = 0xffff
			}
			le.PutUint16(table[2*cluster:], uint16(next))
			cluster++
		}
	}
	copy(b, fatBoot(label, sum.Sum(nil)))
	copy(b[fatSector:], table)
	copy(b[fatSector*(1+fatTable):], table)
	copy(b[fatSector*(1+2*fatTable):], root)
	return &Image{b, fatSize}, nil
}

// fatBoot is the first sector.
func fatBoot(label string, sum []byte) []byte {
	le := binary.LittleEndian
	b := make([]byte, fatSector)
	copy(b, "\xeb\x3c\x90TOUCHDWN")
	le.PutUint16(b[11:], fatSector)
	b[13] = fatCluster / fatSector
	le.PutUint16(b[14:], 1) // reserved sectors
	b[16] = 2               // tables
	le.PutUint16(b[17:], fatRoot)
	le.PutUint16(b[19:], fatSize/fatSector)
	b[21] = 0xf8 // a fixed disk
	le.PutUint16(b[22:], fatTable)
	le.PutUint16(b[24:], 32) // sectors of a track and heads, which nobody asks for any more
	le.PutUint16(b[26:], 64)
	b[36], b[38] = 0x80, 0x29
	copy(b[39:43], sum) // the serial number of the volume
	copy(b[43:54], fatPad(label, 11))
	copy(b[54:62], "FAT16   ")
	b[62], b[63] = 0xeb, 0xfe // no system starts from here
	b[510], b[511] = 0x55, 0xaa
	return b
}

func fatPad(text string, n int) string { return text + strings.Repeat(" ", n-len(text)) }

func fatLabel(label string) []byte {
	e := make([]byte, entrySize)
	copy(e, fatPad(label, 11))
	e[11] = attrLabel
	binary.LittleEndian.PutUint16(e[24:], fatDate)
	return e
}

// fatEntries are the entries of a file: the parts of its name, the last one first, and its own. The short name is made of the
// file's number, since only systems older than 1995 show it.
func fatEntries(f File, number, cluster int) []byte {
	le := binary.LittleEndian
	own := make([]byte, entrySize)
	copy(own, fmt.Sprintf("FILE~%03d   ", number))
	own[11] = 0x20 // to be archived
	for _, at := range []int{16, 18, 24} {
		le.PutUint16(own[at:], fatDate)
	}
	le.PutUint16(own[26:], uint16(cluster))
	le.PutUint32(own[28:], uint32(len(f.Data)))

	units := utf16.Encode([]rune(f.Name))
	parts := (len(units) + longPart - 1) / longPart
	if len(units)%longPart != 0 {
		units = append(units, 0)
	}
	for len(units) < parts*longPart {
		units = append(units, 0xffff)
	}
	var all []byte
	for p := parts; p > 0; p-- {
		e := make([]byte, entrySize)
		e[0], e[11], e[13] = byte(p), attrLong, nameSum(own[:11])
		if p == parts {
			e[0] |= longLast
		}
		at := units[(p-1)*longPart:]
		for _, span := range [][2]int{{1, 11}, {14, 26}, {28, 32}} {
			for i := span[0]; i < span[1]; i += 2 {
				le.PutUint16(e[i:], at[0])
				at = at[1:]
			}
		}
		all = append(all, e...)
	}
	return append(all, own...)
}
