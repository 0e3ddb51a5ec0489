package value

import (
	"encoding/pem"
	"strings"
	"testing"
)

func TestPEM(t *testing.T) {
	var whole []string
	for _, name := range []string{"first", "second", "third"} {
		whole = append(whole, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(strings.Repeat(name, 20))})))
	}
	a, b, c := whole[0], whole[1], whole[2]
	for name, w := range map[string]struct {
		text         string
		blocks, torn int
	}{
		"whole":                   {a + b + c, 3, 0},
		"words between":           {"# a\n" + a + "\nSubject: b\n" + b + "end", 2, 0},
		"Windows line ends":       {strings.ReplaceAll(a+b, "\n", "\r\n"), 2, 0},
		"no last line end":        {a + b[:len(b)-1], 2, 0},
		"empty":                   {"", 0, 0},
		"no PEM":                  {"hello", 0, 0},
		"no line end in between":  {a + b[:len(b)-1] + c, 1, 2},
		"no line end at first":    {a[:len(a)-1] + b + c, 1, 1},
		"cut off in the middle":   {a + b[:60] + "\n" + c, 2, 2},
		"cut off at the end":      {a + b + c[:60], 2, 3},
		"damaged in the middle":   {a + strings.Replace(b, "c2Vj", "c2!j", 1) + c, 2, 2},
		"indented in the middle":  {a + "  " + strings.ReplaceAll(b, "\n", "\n  ") + "\n" + c, 2, 2},
		"dash lost at its begin":  {a + b[1:] + c, 2, 2},
		"dash lost at its end":    {a + b[:len(b)-2] + "\n" + c, 2, 2},
		"begins twice":            {a + "-----BEGIN CERTIFICATE-----\n" + b + c, 3, 2},
		"an end without its head": {a + "-----END CERTIFICATE-----\n", 1, 2},
	} {
		if blocks, torn := PEM([]byte(w.text)); len(blocks) != w.blocks || torn != w.torn {
			t.Errorf("%s: %d blocks, torn is number %d; want %d and %d", name, len(blocks), torn, w.blocks, w.torn)
		}
	}
}
