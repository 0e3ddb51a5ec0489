package support

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// Summary is the name of the document that goes over a serial line: a bundle with less of each part.
const Summary = "summary"

// MaxSerial is the most text in bytes that Serial makes of a summary: 5 minutes at 9600 bits per second.
const MaxSerial = 256 << 10

const (
	serialBegin = "-----BEGIN TOUCHDOWN SUPPORT SUMMARY-----"
	serialEnd   = "-----END TOUCHDOWN SUPPORT SUMMARY-----"
	perLine     = 45 // bytes of the archive, 60 characters
)

// Serial writes an archive as lines for a terminal whose output someone keeps: number, base64, check sum (CRC-32) of the bytes. A line
// that the wire damaged is told, so that it alone has to be read again.
func Serial(archive []byte) []byte {
	var out bytes.Buffer
	fmt.Fprintln(&out, serialBegin)
	n := 0
	for rest := archive; len(rest) > 0; n++ {
		part := rest[:min(len(rest), perLine)]
		rest = rest[len(part):]
		fmt.Fprintf(&out, "%05d %s %08x\n", n+1, base64.StdEncoding.EncodeToString(part), crc32.ChecksumIEEE(part))
	}
	fmt.Fprintf(&out, "lines %d sha256 %x\n%s\n", n, sha256.Sum256(archive), serialEnd)
	return out.Bytes()
}

// Unserial finds the lines of a summary in what a terminal recorded, and puts the archive together again. It names the lines that are
// missing or damaged. Lines can be there several times, from several tries; of each the first good one counts.
func Unserial(record []byte) ([]byte, error) {
	good, total, sum := map[int][]byte{}, 0, ""
	lines := bufio.NewScanner(bytes.NewReader(record))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 4 && words[0] == "lines" && words[2] == "sha256":
			total, _ = strconv.Atoi(words[1])
			sum = words[3]
		case len(words) == 3 && len(words[0]) == 5:
			n, err := strconv.Atoi(words[0])
			part, failed := base64.StdEncoding.DecodeString(words[1])
			if err == nil && failed == nil && fmt.Sprintf("%08x", crc32.ChecksumIEEE(part)) == words[2] && good[n] == nil {
				good[n] = part
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	if total < 1 || total > MaxSerial/perLine {
		return nil, errors.New("the last line of a summary, which tells how many there are, is missing; run touchdown report bundle --serial again")
	}
	var archive []byte
	var bad []string
	for n := 1; n <= total; n++ {
		if good[n] == nil {
			bad = append(bad, strconv.Itoa(n))
		}
		archive = append(archive, good[n]...)
	}
	if len(bad) > 0 {
		return nil, fmt.Errorf("%d of %d lines are missing or damaged, the first %s; record touchdown report bundle --serial again, behind the same file", len(bad), total, bad[0])
	}
	if fmt.Sprintf("%x", sha256.Sum256(archive)) != sum {
		return nil, errors.New("the lines are of two different summaries; record touchdown report bundle --serial again, into a new file")
	}
	return archive, nil
}
