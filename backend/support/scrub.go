package support

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// hidden stands where a secret was.
const hidden = "<secret>"

const (
	// named are names of secrets. One may be a part of a longer name, such as access_token.
	named = `(?:auth|passwd|password|passphrase|psk|secret|token|credentials?|api[_-]?key|(?:secret|access|account|private|preshared)[_-]?key|` +
		`client-key-data|tls\.key|ssh-privatekey|dockerconfigjson|dockercfg|cookie|wep-key[0-3]|\bpin|\bpuk|signature|\bsig|community)` +
		`(?:[_-]?(?:hash|value|data|raw|base64|b64|[0-9]{1,2}))?`
	// value is what stands behind a name: a quotation, also one within a text that is quoted itself, a word, or a quotation that was cut.
	value = `(?:"(?:[^"\\]|\\.)*"|\\+"[^"\\]*(?:\\+[^"\\]+)*\\+"|'[^']*'|[^\s"'\\&{\[][^\s"'\\&]*[^\s"'\\&,;]|[^\s"'\\&{\[]|\\*["'][^\n]*)`
	// assigned is between both.
	assigned = `\\*["']?\s*(?:=>|[=:]|\\+u003d)\s*(?:!!\w+\s+)?\[?`
)

// rule is what a secret of anyone looks like, and what stands in its place. A line that has none of its signs, in lower case, is not
// searched: a log of 4 MiB would take minutes.
type rule struct {
	signs   []string
	pattern *regexp.Regexp
	instead string
}

func sign(signs, pattern, instead string) rule {
	return rule{strings.Split(signs, "|"), regexp.MustCompile(pattern), instead}
}

// rules are what a secret of anyone looks like in a log. Those that Touchdown was told are masked by the engine; these are of others:
// keys and tokens that a service of the node wrote down. A header goes before what its words look like.
var rules = []rule{
	sign("eyj", `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, hidden), // a JSON web token
	sign("digest ", `(?i)\b(digest\s+)(?:\w+=(?:"[^"]*"|[^\s,]+)[,\s]*)+`, "${1}"+hidden),
	sign("authorization|cookie", `(?i)\b((?:authorization|cookie)\\*["']?\s*[:=]\s*\\*["']?\[?(?:(?:bearer|basic|digest|negotiate|ntlm|aws4-hmac-sha256)\s+)?)[^\s"'\]\\][^"'\]\\\n]*`, "${1}"+hidden),
	sign("bearer|basic", `(?i)\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}`, "${1} "+hidden),
	sign("sha256~", `\bsha256~[A-Za-z0-9_-]{20,}`, hidden),                                                                        // a token of OpenShift's OAuth server
	sign("://", `(://[^:/@\s"']*:)(?:[^\s/"'<>]+|[0-9]*[^\s/"'<>0-9][^\s"'<>]*)@`, "${1}"+hidden+"@"),                             // of a URL; a port is none
	sign("://", `(://)[^:/@\s"'<>?]{16,}@`, "${1}"+hidden+"@"),                                                                    // a token in a URL
	sign("value", `(?i)(\bname\\*["']?:\s*\\*["']?[\w.-]*`+named+`\\*["']?[,\s]+\\*["']?value`+assigned+`)`+value, "${1}"+hidden), // of a pod's environment
	sign("--|-p|-t", `(?i)(--?[a-z-]*(?:passwd|password|passphrase|secret|token|pin)[ =])(?:"[^"]*"|'[^']*'|\S+)`, "${1}"+hidden), // of a command line
	sign("login|user", `(?i)\b((?:login|user(?:name)?)\s+\S+\s+(?:password|passwd)\s+)\S+`, "${1}"+hidden),                        // of netrc
	sign("curl|wget", `(?i)\b((?:curl|wget)\b.*\s(?:-u|--user|--proxy-user|-U)[ =]?['"]?[^:\s'"]+:)[^\s'"]+`, "${1}"+hidden),
	sign("gh|glpat|xox|aiza|hv|sk-|npm_|dckr", `\b(?:gh[opusr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AIza[\w-]{30,}|hv[sbr]\.[\w-]{20,}|sk-[\w-]{20,}|npm_\w{30,}|dckr_pat_[\w-]{20,})`, hidden),
	sign("akia|asia", `\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, hidden),                    // of AWS
	sign("age-", `\bAGE-(?:PLUGIN-[A-Z0-9-]+|SECRET-KEY)-1[A-Z0-9]{20,}`, hidden), // of age
	sign("token|bootstrap|join", `(?i)((?:token|bootstrap|join)[^\n]*?)\b[a-z0-9]{6}\.[a-z0-9]{16}\b`, "${1}"+hidden),
	sign("$", `\$(?:1|2[abxy]?|5|6|7|y|gy|argon2\w*|pbkdf2[\w-]*|scrypt)\$[A-Za-z0-9./$=,+-]{16,}`, hidden), // the hash of a password
}

// Where a name tells that its value is a secret: a value that stands alone in its line is one to the end of the line.
var (
	assignment = regexp.MustCompile(`(?i)(` + named + assigned + `)(` + value + `)`)
	whole      = regexp.MustCompile(`(?i)^(\s*(?:- |export )?[\w.-]*` + named + `\s*[=:]\s*)([^\s"'{\[|>][^\n]*)`)
)

// A private key in PEM. One that has no end, or none so near, is taken for one that was cut.
var (
	keyBegin   = regexp.MustCompile(`-----BEGIN[A-Z0-9 %+]*PRIVATE(?: |%20|\+)KEY(?:(?: |%20|\+)BLOCK)?-----`)
	keyEnd     = regexp.MustCompile(`-----END[A-Z0-9 %+]*PRIVATE(?: |%20|\+)KEY(?:(?: |%20|\+)BLOCK)?-----`)
	longestKey = 16 << 10 // bytes: RSA with 16384 bits has 13,000
)

// Names whose values lie in the lines below them, in YAML.
var (
	block = regexp.MustCompile(`(?i)^(\s*)(?:- )?["']?[\w.-]*` + named + `["']?\s*:\s*[|>][+-]?[0-9]?[+-]?\s*$`)
	above = regexp.MustCompile(`(?i)^name:\s*["']?[\w.-]*` + named + `["']?$`)
)

// withoutKeys takes private keys out of a text, also the rest of one that begins before the text.
func withoutKeys(text string) string {
	var out strings.Builder
	if end := keyEnd.FindStringIndex(text[:min(len(text), longestKey)]); end != nil && keyBegin.FindStringIndex(text[:end[0]]) == nil {
		out.WriteString(hidden)
		text = text[end[1]:]
	}
	for begin := keyBegin.FindStringIndex(text); begin != nil; begin = keyBegin.FindStringIndex(text) {
		out.WriteString(text[:begin[0]] + hidden)
		rest := text[begin[1]:]
		near := rest[:min(len(rest), longestKey)]
		if end := keyEnd.FindStringIndex(near); end != nil {
			text = rest[end[1]:]
		} else {
			text = rest[len(near):]
		}
	}
	return out.String() + text
}

// Scrub takes out of a text what looks like a secret. What does not look like one stays: a person reads a bundle before it leaves the house.
func Scrub(text string) string {
	lines := strings.SplitAfter(withoutKeys(text), "\n")
	in := -1 // how far the name of a secret is set in whose value stands below it; -1: none
	before := ""
	for i, line := range lines {
		bare := strings.TrimSpace(line)
		start := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		switch {
		case in >= 0 && bare != "" && len(start) > in, strings.HasPrefix(bare, "value:") && above.MatchString(before):
			lines[i] = start + hidden + "\n"
			continue
		case bare != "":
			in = -1
		}
		before = strings.TrimPrefix(bare, "- ")
		if strings.ContainsAny(bare[max(0, len(bare)-3):], "|>") {
			if m := block.FindStringSubmatch(line); m != nil {
				in = len(m[1])
				continue
			}
		}
		lines[i] = scrubLine(line)
	}
	return strings.Join(lines, "")
}

func scrubLine(line string) string {
	line = withoutCoded(line)
	lower := strings.ToLower(line)
	for _, s := range rules {
		if slices.ContainsFunc(s.signs, func(sign string) bool { return strings.Contains(lower, sign) }) {
			line = s.pattern.ReplaceAllString(line, s.instead)
		}
	}
	if !assigns(lower) {
		return line
	}
	for _, pattern := range []*regexp.Regexp{whole, assignment} {
		line = pattern.ReplaceAllStringFunc(line, func(found string) string {
			m := pattern.FindStringSubmatch(found)
			switch strings.TrimRight(m[2], ",;}] \t\r") {
			case "true", "false", "null", "nil", "none", `""`, "''", `\"\"`, "", "<nil>", "<set>", hidden: // nothing that is secret, and JSON stays JSON
				return found
			}
			return m[1] + hidden
		})
	}
	return line
}

// words are parts of the names of secrets, one of which each of them has.
var words = []string{"auth", "pass", "psk", "secret", "token", "key", "credential", "dockerc", "cookie", "pin", "puk", "sig", "community"}

// assigns tells whether a name of a secret, and soon behind it a sign that gives it a value, may be in a line in lower case.
func assigns(lower string) bool {
	for _, word := range words {
		for rest := lower; ; {
			_, behind, found := strings.Cut(rest, word)
			if !found {
				break
			}
			if rest = behind; strings.ContainsAny(behind[:min(len(behind), 24)], "=:") || strings.Contains(behind[:min(len(behind), 24)], "u003d") {
				return true
			}
		}
	}
	return false
}

// shortestCoded is the length of base64, as in a Secret and in an Ignition config, that is looked into. Shorter ones have no room for a
// name and a secret.
const shortestCoded = 40

// withoutCoded looks into what is base64. What has a secret in it goes as a whole: the rest would be of no use.
func withoutCoded(line string) string {
	isCoded := func(r rune) bool {
		return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '+' || r == '/'
	}
	for run := range strings.FieldsFuncSeq(line, func(r rune) bool { return !isCoded(r) }) {
		if len(run) < shortestCoded {
			continue
		}
		plain, err := base64.StdEncoding.DecodeString(run[:len(run)/4*4]) // its end may be cut
		inside := string(plain)
		if err != nil || strings.ContainsFunc(inside, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r >= 0x7f }) {
			continue
		}
		if Scrub(inside) != inside {
			line = strings.Replace(line, run, hidden, 1)
		}
	}
	return line
}
