package media

import (
	"strings"
	"testing"

	"touchdown/backend/problem"
)

// FuzzAnswer holds that no answer of a reading process is taken that cannot be one.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"content":{"kind":"vfat","label":"A","entries":[{"path":"site-config.yaml","size":1,"data":"YQ=="}]}}`,
		`{"problem":{"code":"MED-BAD","summary":"s","fix":"f","cause":"c"}}`, `{"content":{"entries":[{"path":"../a"}]}}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, _, err := understand(text, siteFiles())
		if err != nil {
			if p := problem.From(err); len(p.Code) > 8 || len(p.Summary.String()) > 500 {
				t.Fatal(err)
			}
			return
		}
		for _, e := range c.Entries {
			if strings.HasPrefix(e.Path, "/") || strings.Contains("/"+e.Path+"/", "/../") || len(e.Data) > 0 && !siteFiles().has(e.Path) {
				t.Fatalf("%q", e.Path)
			}
		}
	})
}
