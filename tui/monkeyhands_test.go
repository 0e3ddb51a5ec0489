package tui

import (
	"strings"
	"time"

	"touchdown/test/rounds"
)

// monkeyKeysOf are the bytes of single keys that do something somewhere.
var monkeyKeysOf = []string{
	"\r", "\r", "\r", "\r", "\t", "\t", "\x1b[Z", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x7f", "\x1b[3~", "\x1b[5~", "\x1b[6~", "\x1b[H",
	"\x1b[F", "\n", "\x07", "\x0c", "\x12", "\x15", "\x19", "\x1bOP", "\x1b1", "\x1b", "\x08", " ", "?", "/", "-", "1", "2", "9",
}

// monkeyWords are what people type, and what the rules ask for.
var monkeyWords = []string{
	"sno-042", "store0042", "SNO-042", "relocate", "sno-042.factory.example", "example.com", "yes", "Ready", "matrix", "x!y", "a_b",
	"/etc/hostname", "/dev/zero", "/", "192.0.2.1/24", `{"auths":{"r":{"auth":"eDp5"}}}`, "caf\u00e9 \u65e5\u672c", "J. Doe", "because",
}

// monkeyPastes are what comes in one piece; %s stands for something of the same kind.
var monkeyPastes = []string{
	"sno-042\r", "store0042\r\n", "u\tsno-042\r\r", "R\r\tsno-042\r", "\x19", "\x1b[C\r", "y\ry\r", "\r\r\r\r", "\t\t\t\r", "\x03\x19", "\x07\x1b[C\r",
	"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n\n", "{\n\"auths\": {}\n}\n", "ssh-rsa AAAAB3NzaC1yc2E core@laptop\n",
	"\x1b[200~sno-042\r\x1b[201~", "\x1b[200~R\r\x1b[201~\r", "\x1b[200~never ends", "\x1b[201~", "\x1b[20", "\x1b[1;5C", "\x1b[M !!", "\x1b[<0;1;1M",
	"\x1b]0;title\x07", "\x1bP1$r\x1b\\", "\x1b[\x1b[\x1b", "\x1b[[A", "\xff\xfe\x80", "\xe2\x82", "\x9b2J", "\x00\x1a\x1c",
}

// press presses one thing: a key, something pasted, or the next key of what the monkey has in mind.
func (s *seat) press() {
	r := s.m.r
	if len(s.plan) > 0 {
		key := s.plan[0]
		s.plan = s.plan[1:]
		s.pressKey(key)
		return
	}
	switch n := r.IntN(1000); {
	case n < 300:
		s.pressKey(rounds.One(r, monkeyKeysOf...))
	case n < 500:
		s.pressKey(string(rune(' ' + r.IntN(95))))
	case n < 560:
		s.intend()
	case n < 580:
		s.plan = lettersOf(rounds.One(r, monkeyWords...))
	case n < 590:
		s.pressKey(rounds.One(r, "\x03", "\x07", "m", "\u20ac", "\u0301", "\u202e"))
	case n < 592:
		s.hear(s.long(), s.pause())
	case n < 700:
		s.pieces(rounds.One(r, monkeyPastes...) + rounds.One(r, "", "", rounds.One(r, monkeyWords...), rounds.One(r, monkeyPastes...)))
	case n < 800:
		s.pieces(s.noise(1 + r.IntN(12)))
	default:
		s.pressKey(rounds.One(r, "\x1b[A", "\x1b[B", "\x1b[C", "\t", "\r", "c", "b", "l"))
	}
}

// monkeyWays are the keys of what can be done on a page.
var monkeyWays = map[string][]string{
	"dashboard": {"R", "P", "h", "u", "e", "k", "p", "r"}, "problem": {"r", "e", "s", "w", "u", "p", "k", "\x07"}, "work": {"x", "x", "l", "\x07"},
	"form": {"\x07", "\t", "o", "i", "a"}, "checks": {"\x07", "c", "w", "i"}, "question": {"1", "2", "\x07"}, "hello": {"\x07", "c", "\x03"},
}

// intend plans to do something that matters, as a person would: choose it, go to the word, type it, Enter.
func (s *seat) intend() {
	r := s.m.r
	if ways := monkeyWays[s.app.top().name()]; ways != nil {
		s.plan = append(s.plan, rounds.One(r, ways...))
		if r.Chance(2) {
			s.plan = append(s.plan, "\r")
		}
	}
	switch r.IntN(4) {
	case 0:
		s.plan = append(s.plan, "\x19")
	case 1:
		s.plan = append(s.plan, "\x1b[C", "\r")
	default:
		s.plan = append(s.plan, "\t")
		s.plan = append(s.plan, lettersOf(rounds.One(r, monkeyWords[:4]...))...)
		s.plan = append(s.plan, "\r")
	}
	if r.Chance(3) { // something comes in between
		at := r.IntN(len(s.plan))
		s.plan[at] = rounds.One(r, monkeyKeysOf...)
	}
}

// lettersOf are the keys of a word.
func lettersOf(word string) []string { return strings.Split(word, "") }

// pressKey presses one key, as slowly as a person, sometimes with its bytes apart.
func (s *seat) pressKey(key string) {
	r := s.m.r
	if s.goesOn || s.dec.unfinished() { // whatever went on is over before a person types
		s.hear("", time.Second)
	}
	if len(key) > 1 && r.Chance(5) {
		s.hear(key[:1], rounds.One(r, time.Millisecond, 40*time.Millisecond, 150*time.Millisecond))
		key = key[1:]
	}
	s.hear(key, s.pause())
	if r.Chance(50) && len(s.plan) == 0 {
		s.m.pass(rounds.One(r, time.Second, 40*time.Second))
	}
}

// pause is one between two keys of a person. An ESC alone is a key only after a longer one.
func (s *seat) pause() time.Duration {
	return hands + time.Duration(s.m.r.IntN(400))*time.Millisecond
}

// pieces sends bytes as a line brings them: in one piece, or apart.
func (s *seat) pieces(data string) {
	r := s.m.r
	if r.Chance(3) { // what came before belongs to it
		s.hear("", rounds.One(r, 0, 5*time.Millisecond, time.Second))
	}
	for len(data) > 0 {
		n := len(data)
		if r.Chance(3) {
			n = 1 + r.IntN(n)
		}
		gap := rounds.One(r, 0, time.Millisecond, 29*time.Millisecond, 31*time.Millisecond, 199*time.Millisecond, 201*time.Millisecond, time.Second)
		s.hear(data[:n], gap)
		data = data[n:]
	}
}

// noise is bytes of any kind.
func (s *seat) noise(n int) string {
	r, out := s.m.r, make([]byte, n)
	for i := range out {
		out[i] = rounds.One(r, byte(r.IntN(256)), byte(' '+r.IntN(95)), 0x1b, '[', 'O', ';', '~', '\r', byte('0'+r.IntN(10)))
	}
	return string(out)
}

// long is a paste that no field holds, or nearly one.
func (s *seat) long() string {
	r := s.m.r
	part := rounds.One(r, "x", "MIIB\n", "{\"a\":\"b\"}\n", "\x1b[B", "\t", "\r", "\x1b[200~", "-----BEGIN X-----\nMII\n-----END X-----\n", "\u20ac", s.noise(40))
	data := strings.Repeat(part, (1+r.IntN(300_000))/len(part)+1)
	return rounds.One(r, data, "\x1b[200~"+data+"\x1b[201~", "\x1b[200~"+data)
}
