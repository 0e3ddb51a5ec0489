package engine

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"

	"touchdown/backend/check"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// sealed is how each line of our records ends: the checksum of the record without it. It stays one JSON object a line, so that
// grep and jq read it.
const sealed = `,"crc":"00000000"}`

// checksum is the CRC-32C of data in hexadecimal digits.
func checksum(data []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// seal makes a line of a record, which is a JSON object with at least one member.
func seal(record []byte) []byte {
	line := bytes.Clone(record[:len(record)-1])
	return fmt.Appendf(line, `,"crc":"%s"}`+"\n", checksum(record))
}

// unseal returns the record of a line, and whether it is the one that was written.
func unseal(line []byte) (record []byte, ok bool) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	at := len(line) - len(sealed)
	if at < 1 {
		return nil, false
	}
	record = append(bytes.Clone(line[:at]), '}')
	return record, bytes.Equal(line[at:], bytes.TrimSpace(seal(record))[at:])
}

// maxSeq is more events than a node can ever have; numbers are added to what is read.
const maxSeq = 1 << 60

// maxGap is more numbers than a program leaves out between two records: see restartGap. Without it one record could use the numbers up.
const maxGap = 1 << 40

// recordable are the states of a job that are written down; an engine that starts finds the others out.
var recordable = []view.State{view.Collecting, view.Working, view.InQuestion, view.HasFailed, view.UndoingAll, view.IsDone, view.IsUndone}

// tellsState tells whether a record says in which state the job is.
func tellsState(j *event.Job) bool {
	return j != nil && slices.Contains(recordable, view.State(j.State))
}

// maxSeconds is longer, in seconds, than anything on a node lasts.
const maxSeconds = 1e8

// wellFormed tells whether a record has the parts that its kind needs, and nothing that could not be written again once it is counted with
// other records. The records of the previous release have no checksum.
func wellFormed(e event.Event) bool {
	for _, s := range e.Lasts {
		if s < 0 || s > maxSeconds {
			return false
		}
	}
	if year := e.Time.Year(); e.Seq >= maxSeq || year < 1 || year > 9990 { // JSON's times end with the year 9999
		return false
	}
	switch c, q := e.Check, e.Question; e.Kind {
	case "":
		return false
	case event.Checked:
		return c != nil && (c.Status != check.Waived || c.Waiver != nil)
	case event.Cleared:
		return c != nil
	case event.Asked:
		return q != nil && q.Deadline >= 0 && q.Deadline < maxSeconds
	case event.Progressed:
		return e.Progress != nil
	case event.Changed:
		return e.Job == nil || tellsState(e.Job)
	case event.Lost:
		return tellsState(e.Job)
	}
	return true
}
