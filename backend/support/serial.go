package support

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
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
// that the wire damaged is told, so that it alone has to be printed again: lines are those that are wanted ("7,900-950"), "" all.
func Serial(archive []byte, lines string) ([]byte, error) {
	total := (len(archive) + perLine - 1) / perLine
	wanted, err := numbers(lines, total)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, serialBegin)
	for n := range total {
		if wanted == nil || wanted[n+1] {
			part := archive[n*perLine : min(len(archive), (n+1)*perLine)]
			fmt.Fprintf(&out, "%05d %s %08x\n", n+1, base64.StdEncoding.EncodeToString(part), crc32.ChecksumIEEE(part))
		}
	}
	fmt.Fprintf(&out, "lines %d sha256 %x\n%s\n", total, sha256.Sum256(archive), serialEnd)
	return out.Bytes(), nil
}

// numbers reads "7,900-950", of which none is above a limit; nil for "".
func numbers(text string, most int) (map[int]bool, error) {
	if text == "" {
		return nil, nil
	}
	wanted := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		first, last, more := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && more {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 1 || to < from || to > most {
			return nil, fmt.Errorf("%q names no lines of the summary, which has %d: write 7, 900-950 or both with a comma; after an hour, or a restart of the engine, the summary is another one", part, most)
		}
		for n := from; n <= to; n++ {
			wanted[n] = true
		}
	}
	return wanted, nil
}

// mostRanges is how many stretches of lines are named at once, so that a person can type them.
const mostRanges = 12

// ranges writes numbers in order as "7,900-950"; more tells that some were left out.
func ranges(all []int) (text string, more bool) {
	var parts []string
	for i := 0; i < len(all); {
		from := i
		for i++; i < len(all) && all[i] == all[i-1]+1; i++ {
		}
		part := strconv.Itoa(all[from])
		if i-from > 1 {
			part += "-" + strconv.Itoa(all[i-1])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts[:min(len(parts), mostRanges)], ","), len(parts) > mostRanges
}

// try is a summary as a terminal recorded it once.
type try struct {
	good  map[int][]byte // lines that came whole
	total int            // lines that it should have; 0: its last line is missing
	sum   string
}

// Unserial finds the lines of a summary in what a terminal recorded, and puts the archive together again. A record may have several
// tries: the newest that is whole counts. Tries of the same summary fill each other's gaps. It names the lines that are missing or damaged.
func Unserial(record []byte) ([]byte, error) {
	tries, err := triesIn(record)
	if err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	err = errors.New("the last line of a summary, which tells how many there are, is missing; run touchdown report bundle --serial again")
	for i, t := range slices.Backward(tries) {
		if t.total < 1 || t.total > MaxSerial/perLine {
			continue
		}
		for _, sum := range []string{t.sum, ""} { // a try that lost its last line may be of this summary: the SHA-256 of all tells
			for _, other := range tries[:i] {
				if other.sum == sum {
					t.fill(other)
				}
			}
		}
		archive, failed := t.join()
		if failed == nil {
			return archive, nil
		}
		err = failed
	}
	return nil, err
}

func triesIn(record []byte) ([]try, error) {
	tries := []try{{good: map[int][]byte{}}}
	lines := bufio.NewScanner(bytes.NewReader(record))
	for lines.Scan() {
		now := &tries[len(tries)-1]
		words := strings.Fields(lines.Text())
		switch {
		case strings.Contains(lines.Text(), serialBegin):
			tries = append(tries, try{good: map[int][]byte{}})
		case len(words) == 4 && words[0] == "lines" && words[2] == "sha256":
			now.total, _ = strconv.Atoi(words[1])
			now.sum = words[3]
		case len(words) == 3 && len(words[0]) == 5:
			n, err := strconv.Atoi(words[0])
			part, failed := base64.StdEncoding.DecodeString(words[1])
			if err == nil && failed == nil && fmt.Sprintf("%08x", crc32.ChecksumIEEE(part)) == words[2] {
				now.good[n] = part
			}
		}
	}
	return tries, lines.Err() //nolint:wrapcheck // Unserial says what was read
}

// fill takes lines of another try that this one lacks.
func (t try) fill(other try) {
	for n, part := range other.good {
		if t.good[n] == nil {
			t.good[n] = part
		}
	}
}

// join makes the archive of a try.
func (t try) join() ([]byte, error) {
	var archive []byte
	var bad []int
	for n := 1; n <= t.total; n++ {
		if t.good[n] == nil {
			bad = append(bad, n)
		}
		archive = append(archive, t.good[n]...)
	}
	if lines, more := ranges(bad); len(bad) > 0 {
		first := ""
		if more {
			first = ", which are the first of them,"
		}
		return nil, fmt.Errorf("%d of %d lines are missing or damaged; print them again with touchdown report bundle --serial=%s%s within an hour, and append them to the same file", len(bad), t.total, lines, first)
	}
	if fmt.Sprintf("%x", sha256.Sum256(archive)) != t.sum {
		return nil, errors.New("the lines are of two different summaries; record touchdown report bundle --serial again, into a new file")
	}
	return archive, nil
}
