package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"time"
)

// CSV is a line for each check, with the machine in front of it, so that the files of many machines can be put together.
func (d *Document) CSV() ([]byte, error) {
	rows := [][]string{{"serial", "hostname", "report", "made", "step", "check", "title", "status", "observed", "expected", "source", "fix", "waived by", "reason", "sealed by", "second person"}}
	for _, c := range d.Checks {
		by, reason := "", ""
		if c.Waiver != nil {
			by, reason = c.Waiver.By, c.Waiver.Reason
		}
		rows = append(rows, []string{
			d.Node.Serial, d.Node.Hostname, d.Kind, d.Made.UTC().Format(time.RFC3339), c.Step, c.ID, c.Title.String(), string(c.Status),
			c.Observed.String(), c.Expected.String(), c.Source.String(), c.Fix.String(), by, reason, d.SealedBy, d.SecondPerson,
		})
	}
	for _, row := range rows {
		for i := range row {
			row[i] = cell(row[i])
		}
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	return out.Bytes(), nil
}

// formula is where a cell begins that a spreadsheet computes: with one of four signs. A spreadsheet whose separator is the semicolon, as in
// much of Europe, begins one behind each semicolon of a text, and passes over blanks and quotes there. A text has no tabs (printable).
var formula = regexp.MustCompile(`(^|;[ "]*)([=+\-@])`)

// cell is a text on one line that no spreadsheet takes for a formula, nor a part of it: some texts come from devices of the network.
func cell(text string) string { return formula.ReplaceAllString(printable(text), "${1}'${2}") }
