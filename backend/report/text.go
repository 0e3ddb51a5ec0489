package report

import (
	"fmt"
	"strings"

	"touchdown/backend/check"
)

// width leaves a margin on a console of 80 columns.
const width = 76

// plain spells what people type outside ASCII: names, and the quotation marks of a desktop.
var plain = strings.NewReplacer(
	"\u2010", "-", "\u2011", "-", "\u2013", "-", "\u2014", "-", "\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`, "\u2026", "...",
	"\u00a0", " ", "\t", " ", "\r", "",
	"ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "ß", "ss", "æ", "ae", "Æ", "Ae", "ø", "o", "Ø", "O", "å", "a", "Å", "A",
	"à", "a", "á", "a", "â", "a", "ã", "a", "ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e", "ì", "i", "í", "i", "î", "i", "ï", "i",
	"ñ", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o", "ù", "u", "ú", "u", "û", "u", "ý", "y", "É", "E", "Ç", "C", "Ñ", "N",
)

// ascii keeps what every terminal shows alike.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r >= ' ' && r < 0x7f {
			return r
		}
		return '?'
	}, plain.Replace(s))
}

func field(label, value string) string {
	if value == "" {
		value = "unknown"
	}
	// An address is copied by people: it stays in one piece as long as it fits a line.
	if len(value) > width-17 && len(value) <= width-4 && !strings.Contains(value, " ") {
		return "  " + label + "\n" + para(4, value)
	}
	return hang(fmt.Sprintf("  %-15s", label), value)
}

func para(indent int, text string) string { return hang(strings.Repeat(" ", indent), text) }

// hang wraps text behind a first column; the following lines are indented as far. A word that is longer than the line
// is cut.
func hang(first, text string) string {
	// Before wrapping, because replacing may lengthen.
	first, text = ascii(first), ascii(strings.Join(strings.Fields(text), " "))
	indent := strings.Repeat(" ", len(first))
	room := width - len(first)
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for len(word) > room {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			lines, word = append(lines, word[:room]), word[room:]
		}
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > room:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	lines = append(lines, line)
	return strings.TrimRight(first+strings.Join(lines, "\n"+indent), " ")
}

func record(r Record) string {
	text := fmt.Sprintf("%s  %s  %s", r.Name, r.Type, r.Value)
	if r.Optional {
		text += " (optional)"
	}
	if len(text)+2 <= width {
		return "  " + ascii(text)
	}
	// A record is copied by people: the name stays in one piece as long as it fits a line.
	return para(2, r.Name) + "\n" + para(6, strings.TrimSpace(text[len(r.Name):]))
}

// fingerprint writes pairs as openssl does, 16 a line.
func fingerprint(hex string) string {
	var pairs []string
	for i := 0; i+2 <= len(hex); i += 2 {
		pairs = append(pairs, strings.ToUpper(hex[i:i+2]))
	}
	var lines []string
	for len(pairs) > 0 {
		n := min(16, len(pairs))
		lines, pairs = append(lines, "    "+strings.Join(pairs[:n], ":")), pairs[n:]
	}
	return strings.Join(lines, "\n")
}

func tally(checks []Check) string {
	count := map[check.Status]int{}
	for _, c := range checks {
		count[c.Status]++
	}
	var parts []string
	for _, s := range []struct {
		status check.Status
		word   string
	}{{check.Pass, "passed"}, {check.Warn, "warned"}, {check.Fail, "failed"}, {check.Skip, "not checked"}, {check.Waived, "waived"}} {
		if n := count[s.status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.word))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func verdict(c Check) string {
	text := c.Title.String()
	if c.Observed.String() != "" {
		text += ": " + c.Observed.String()
	}
	if c.Status != check.Pass && c.Expected.String() != "" {
		text += " (expected: " + c.Expected.String() + ")"
	}
	return hang(fmt.Sprintf("  %-6s  ", strings.ToUpper(string(c.Status))), text)
}

func timing(s Step) string {
	text := s.Title
	if s.Outcome != "done" {
		text += " - " + s.Outcome
		if s.Why != "" {
			text += ": " + s.Why
		}
	}
	return hang(fmt.Sprintf("  %8s  ", clock(s.Seconds)), text)
}

// clock is minutes and seconds.
func clock(seconds float64) string {
	n := int(seconds + 0.5)
	return fmt.Sprintf("%d:%02d", n/60, n%60)
}
