package engine

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"touchdown/backend/message"
	"touchdown/steps/event"
)

const (
	// shortestSecret is the length from which a part of a secret is masked on its own; shorter parts, such as the
	// last line of a PEM block, would mask ordinary words.
	shortestSecret = 8
	// shortestWhole is the same for a secret as a whole, such as a password. It is masked where it is a whole word.
	shortestWhole = 4
)

// Masker hides the secrets that a person entered wherever text leaves the engine. The zero value masks nothing.
type Masker struct {
	mu    sync.RWMutex
	given []string // secrets that the engine made, see also
	own   []string // the others
	parts []string
	words *regexp.Regexp // the whole secrets that are too short to be parts of words; nil: none
}

// Hide sets the secrets. Of a text of several lines each line is hidden too, since logs and events often carry
// one line of it.
func (m *Masker) Hide(secrets []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.own = secrets
	m.hide(slices.Concat(secrets, m.given))
}

// also hides secrets that the engine made, beside those that Hide sets.
func (m *Masker) also(secrets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range secrets {
		if !slices.Contains(m.given, s) {
			m.given = append(m.given, s)
		}
	}
	m.hide(slices.Concat(m.own, m.given))
}

func (m *Masker) hide(secrets []string) {
	var parts []string
	for _, s := range secrets {
		parts = append(parts, s)
		for line := range strings.Lines(s) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "-----") {
				parts = append(parts, line)
			}
		}
	}
	for _, s := range secrets {
		parts = append(parts, tokens(s)...)
	}
	for _, p := range parts {
		parts = append(parts, spellings(p)...)
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return len(p) < shortestSecret })
	slices.SortFunc(parts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	m.parts, m.words = slices.Compact(parts), shortWords(secrets)
}

// spellings are how a secret reads inside of a JSON text, of a quotation in an error and of a URL.
func spellings(secret string) []string {
	out := []string{url.QueryEscape(secret), url.PathEscape(secret)}
	quoted := []string{strconv.Quote(secret), strconv.QuoteToASCII(secret)}
	if b, err := json.Marshal(secret); err == nil {
		quoted = append(quoted, string(b))
	}
	for _, q := range quoted {
		out = append(out, q[1:len(q)-1])
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == secret })
}

// shortWords finds the short secrets where they stand alone. What JSON itself is written with is left out: a support bundle
// could not be read any more.
func shortWords(secrets []string) *regexp.Regexp {
	var words []string
	for _, s := range secrets {
		if len(s) >= shortestWhole && len(s) < shortestSecret && !slices.Contains([]string{"true", "false", "null"}, s) {
			words = append(words, regexp.QuoteMeta(s))
		}
	}
	if len(words) == 0 {
		return nil
	}
	return regexp.MustCompile(`(^|[^0-9A-Za-z_])(?:` + strings.Join(words, "|") + `)($|[^0-9A-Za-z_])`)
}

// tokenKeys are the keys of a dockerconfigjson whose values alone are secret.
var tokenKeys = regexp.MustCompile(`"(?:auth|password|identitytoken|registrytoken)"\s*:\s*"([^"]+)"`)

// urlPassword is the password in a proxy's URL.
var urlPassword = regexp.MustCompile(`://[^:/@\s]*:([^\s]+)@`)

// coded returns what a pattern's group finds in a text, and behind each the secret in it where it is base64.
func coded(pattern *regexp.Regexp, text string, secret func(plain string) string) []string {
	var out []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
		if plain, err := base64.StdEncoding.DecodeString(m[1]); err == nil {
			out = append(out, secret(string(plain)))
		}
	}
	return out
}

// tokens returns the secrets inside a secret: the credentials of a pull secret and the passwords that those hold in
// base64; the password of a URL, also as it reads when it is decoded.
func tokens(secret string) []string {
	out := coded(tokenKeys, secret, func(plain string) string {
		_, password, _ := strings.Cut(plain, ":")
		return password
	})
	if m := urlPassword.FindStringSubmatch(secret); m != nil {
		out = append(out, m[1])
		if plain, err := url.PathUnescape(m[1]); err == nil {
			out = append(out, plain)
		}
	}
	return out
}

// Mask returns text without the secrets.
func (m *Masker) Mask(text string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, p := range m.parts {
		text = strings.ReplaceAll(text, p, "<secret>")
	}
	if m.words != nil {
		for range 2 { // two of them can share the character between them
			text = m.words.ReplaceAllString(text, "${1}<secret>${2}")
		}
	}
	return text
}

// What an event holds of one text, and of a list of lines. A registry, an API or a command may write megabytes; a record of
// the journal has room for less than maxJournalLine, of which JSON takes up to six bytes for each of these.
const (
	maxText  = 16 << 10
	maxLine  = 4 << 10
	maxLines = 64 << 10
)

// text masks a text and cuts it to what an event may hold.
func (m *Masker) text(text string) string { return clip(m.Mask(text), maxText) }

// clip takes the middle out of a text that is longer than limit: an error begins with what was done and ends with the cause.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	half := limit / 2
	return strings.ToValidUTF8(text[:half], "") + " ... " + strings.ToValidUTF8(text[len(text)-half:], "")
}

// event masks the texts of an event that a step or a backend wrote, and bounds them.
func (m *Masker) event(e *event.Event) {
	e.Text = e.Text.Map(m.text)
	if e.Progress != nil {
		p := *e.Progress
		p.Waiting = p.Waiting.Map(m.text)
		e.Progress = &p
	}
	if e.Check != nil {
		c := *e.Check
		c.Observed, c.Expected, c.Fix = c.Observed.Map(m.text), c.Expected.Map(m.text), c.Fix.Map(m.text)
		c.Source, c.Evidence = c.Source.Map(m.text), m.texts(c.Evidence)
		e.Check = &c
	}
	if e.Question != nil {
		q := *e.Question
		q.Text, q.Detail = q.Text.Map(m.text), q.Detail.Map(m.text)
		e.Question = &q
	}
	e.Permanent = slices.Clone(e.Permanent)
	for i := range e.Permanent {
		e.Permanent[i].Text = e.Permanent[i].Text.Map(m.text)
	}
	if e.Problem != nil {
		p := *e.Problem
		p.Summary, p.Fix, p.Detail, p.Output = p.Summary.Map(m.text), p.Fix.Map(m.text), p.Detail.Map(m.text), m.lines(p.Output)
		e.Problem = &p
	}
}

func (m *Masker) lines(lines []string) []string {
	kept, more := fitting(lines, func(l string) string { return clip(m.Mask(l), maxLine) }, func(l string) int { return len(l) })
	if more > 0 {
		kept = append(kept, fmt.Sprintf("... and %d more lines", more))
	}
	return kept
}

// texts is lines for texts, which a record may hold twice: in English, and as arguments.
func (m *Masker) texts(texts []message.Text) []message.Text {
	masked := func(t message.Text) message.Text {
		return t.Map(func(s string) string { return clip(m.Mask(s), maxLine) })
	}
	kept, more := fitting(texts, masked, func(t message.Text) int { return 2*len(t.String()) + 32 })
	if more > 0 {
		kept = append(kept, message.F("... and %d more lines", more))
	}
	return kept
}

// fitting are the lines that an event has room for, changed each, and how many more there are.
func fitting[T any](lines []T, change func(T) T, size func(T) int) (kept []T, more int) {
	if lines == nil {
		return nil, 0
	}
	kept = make([]T, 0, len(lines))
	room := maxLines
	for i, l := range lines {
		l = change(l)
		if room -= size(l); room < 0 {
			return kept, len(lines) - i
		}
		kept = append(kept, l)
	}
	return kept, 0
}
