package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"touchdown/steps/event"
)

// reading is what a journal was found to hold.
type reading struct {
	events  []event.Event
	lines   [][]byte // the records, each with its checksum
	good    int64    // where the last whole line ends
	bad     int      // lines that are not what was written
	old     bool     // written by the previous release
	bare    bool     // records without a checksum are taken, as long as none has one
	gone    bool     // it cannot be read, or not to its end
	foreign string   // the first line of another version's journal
	whole   bool     // the last whole line is a record, or the first line
	torn    bool     // a record behind it was cut off while it was written
}

// readJournal reads every record that is what was written, and counts the others.
func readJournal(data []byte) reading {
	r := reading{whole: true}
	first := true
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) { // cut off while it was written
			if first && !strings.HasPrefix(journalFormat, string(line)) && !strings.HasPrefix(journalV1, string(line)) {
				r.bad++
			}
			r.torn = !first
			break
		}
		r.good += int64(len(line))
		if first {
			first = false
			if r.head(line) {
				continue
			}
			r.bad++
			r.whole = r.record(line) // the first line is gone, and this is the second
			continue
		}
		if r.whole = r.record(line); !r.whole {
			r.bad++
		}
	}
	return r
}

// head reads the first line, and tells from its length which release wrote it when it is damaged.
func (r *reading) head(line []byte) bool {
	text := strings.TrimSuffix(string(line), "\n")
	r.old = text == journalV1
	r.bare = len(text) <= len(journalV1)
	if r.old || text == journalFormat {
		return true
	}
	var format struct{ Journal string }
	if record, ok := unseal(line); ok && json.Unmarshal(record, &format) == nil && format.Journal != "" {
		r.foreign = text
	}
	return r.foreign != ""
}

// record takes one line. After the first line with a checksum all have one.
func (r *reading) record(line []byte) bool {
	record, ok := unseal(line)
	switch {
	case ok:
		r.bare = false
	case !r.bare:
		return false
	default:
		record = bytes.TrimSuffix(line, []byte("\n"))
	}
	var e event.Event
	if json.Unmarshal(record, &e) != nil {
		return false
	}
	e.Time = e.Time.UTC() // a time 24 hours from UTC can be read and not written
	if !wellFormed(e) || len(r.events) > 0 && e.Seq <= r.last() || e.Seq > r.last()+maxGap {
		return false
	}
	if len(record) > maxJournalLine { // the previous release had no bound
		(&Masker{}).event(&e)
		record, _ = json.Marshal(e) // well-formed: it can be written
		ok = false
	}
	if !ok {
		line = seal(record)
	}
	r.events, r.lines = append(r.events, upgraded(e)), append(r.lines, line)
	return true
}

// last is the number of the last record.
func (r *reading) last() uint64 {
	if len(r.events) == 0 {
		return 0
	}
	return r.events[len(r.events)-1].Seq
}

// handedOver is the number of the last record that tells of a hand-over, 0 where none does.
func (r *reading) handedOver() uint64 {
	for _, e := range slices.Backward(r.events) {
		if e.Job != nil && e.Job.HandedOver {
			return e.Seq
		}
	}
	return 0
}
