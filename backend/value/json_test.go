package value_test

import (
	"strings"
	"testing"

	"touchdown/backend/value"
)

func TestOneMeaning(t *testing.T) {
	for text, good := range map[string]bool{
		`{"a":1,"b":[{"a":2},{"a":3}],"c":{"a":null}}`: true,
		`[]`:                                    true,
		`"text"`:                                true,
		`{"a":1,"a":1}`:                         false,
		`{"verdict":"landed","VERDICT":"x"}`:    false,
		"{\"status\":1,\"\u017ftatu\u017f\":2}": false,
		"{\"key\":1,\"\u212aey\":2}":            false,
		`{"a":{"b":1,"b":2}}`:                   false,
		`{"a":1} {}`:                            false,
		`{"a":1}]`:                              false,
		`{"a":1`:                                false,
		`{"a" 1}`:                               false,
		``:                                      false,
		strings.Repeat("[", 32) + strings.Repeat("]", 32): true,
		strings.Repeat("[", 33) + strings.Repeat("]", 33): false,
		strings.Repeat("[", 1<<20):                        false,
	} {
		if err := value.OneMeaning([]byte(text)); (err == nil) != good {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}
