package value

import (
	"errors"
	"testing"
)

func TestTexts(t *testing.T) {
	for text, want := range map[string]struct{ plain, line bool }{
		"":                        {true, true},
		"J\u00fcrgen M\u00fcller": {true, true},
		"\u05d0\u200f, \u200d":    {true, true}, // letters of other languages
		"two\nlines\tand a tab":   {true, false},
		"two\u2028lines":          {true, false},
		"a\u202eb":                {},
		"a\u2066b":                {},
		"a\x1b[2J":                {},
		"a\u009b2J":               {},
		"\ufeffa":                 {},
		"a\xff":                   {},
	} {
		if got := (struct{ plain, line bool }{Plain(text), OneLine(text)}); got != want {
			t.Errorf("%+q: %+v, want %+v", text, got, want)
		}
	}
}

// TestOneMeaningIn: what belongs to another program may have a key twice, and be nested deep; what follows it is read.
func TestOneMeaningIn(t *testing.T) {
	ours := func(keys []string) bool { return len(keys) == 0 || keys[0] == "auths" }
	deep := ""
	for range 2 * maxDepth {
		deep = "[" + deep + "]"
	}
	for text, want := range map[string]string{
		`{"headers":{"a":1,"a":2},"auths":{"x":{"auth":""}}}`: "",
		`{"headers":` + deep + `,"auths":{"x":1,"X":2}}`:      "X",
		`{"auths":{"x":{"auth":"","AUTH":""}}}`:               "AUTH",
		`{"headers":1,"AUTHS":{"x":1},"auths":{}}`:            "auths",
		`{"auths":[{"headers":{"a":1}},{"headers":{"a":1}}]}`: "",
	} {
		err := OneMeaningIn([]byte(text), ours)
		twice, _ := errors.AsType[*Twice](err)
		if err != nil && twice == nil || (twice != nil) != (want != "") || twice != nil && twice.Key != want {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}
