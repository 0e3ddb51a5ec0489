package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// The form that JUnit's Ant task made common and that every dashboard reads: suites of cases, of which each failed, was skipped
// or passed. It knows no warning, so a warning is a case that passed, with a word in its output.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Name    string       `xml:"name,attr"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"` // seconds
		Host     string `xml:"hostname,attr"`
		At       string `xml:"timestamp,attr"` // of the report, UTC

		People *junitProperties `xml:"properties"`
		Cases  []junitCase      `xml:"testcase"`
	}
	junitProperties struct {
		All []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		ID      string        `xml:"classname,attr"`
		Title   string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit is the report's checks as JUnit XML, one suite for each step that has checks.
func (d *Document) JUnit() ([]byte, error) {
	all := junitSuites{Name: "touchdown " + d.Kind}
	var people *junitProperties
	if d.SecondPerson != "" {
		people = &junitProperties{[]junitProperty{{"sealedBy", d.SealedBy}, {"secondPerson", d.SecondPerson}}}
	}
	for _, c := range d.Checks {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != c.Step {
			all.Suites = append(all.Suites, junitSuite{
				Name: c.Step, Time: d.took(c.Step), Host: d.Node.Hostname, At: d.Made.UTC().Format("2006-01-02T15:04:05"), People: people,
			})
		}
		all.Suites[len(all.Suites)-1].add(c.Check)
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

func (s *junitSuite) add(c check.Check) {
	tc := junitCase{ID: s.Name + "." + c.ID, Title: c.Title.String()}
	lines := append([]string{string(c.Status) + ": " + c.Observed.String(), "expected: " + c.Expected.String()}, message.English(c.Evidence)...)
	text := strings.Join(lines, "\n")
	s.Tests++
	switch c.Status {
	case check.Fail:
		s.Failures++
		tc.Failure = &junitMessage{Message: c.Observed.String(), Text: text + "\n" + c.Fix.String()}
	case check.Skip:
		s.Skipped++
		tc.Skipped = &junitMessage{Message: c.Observed.String()}
	case check.Waived:
		if c.Waiver != nil {
			text += "\nwaived by " + c.Waiver.By + ": " + c.Waiver.Reason
		}
		tc.Out = text
	default:
		tc.Out = text
	}
	s.Cases = append(s.Cases, tc)
}

// took is how many seconds a step worked.
func (d *Document) took(step string) string {
	for _, s := range d.Steps {
		if s.ID == step {
			return fmt.Sprintf("%.3f", s.Seconds)
		}
	}
	return "0"
}
