package ref

import "testing"

// FuzzParse: what is taken for a reference is the same reference when it is written and read again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"quay.io/a/b:1", "localhost:5000/a@sha256:" + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "[::1]:5000/a", "a", "sha256:a", "docker://x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(r.String())
		if err != nil || again != r {
			t.Errorf("%q is %+v, and again %+v, %v", text, r, again, err)
		}
	})
}
