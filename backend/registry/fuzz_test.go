package registry

import (
	"encoding/json"
	"testing"
)

// FuzzPullSecret merges a pull secret that someone pasted into the cluster's: what was there stays unless it is replaced, and
// all that was given is there.
func FuzzPullSecret(f *testing.F) {
	f.Add([]byte(`{"auths":{"quay.io":{"auth":"YTpi"}},"credHelpers":{}}`), []byte(`{"auths":{"r.example":{"auth":"Yzpk"},"quay.io":null}}`))
	f.Add([]byte(`{}`), []byte(`{"auths":null}`))
	f.Add([]byte(``), []byte(`null`))
	f.Fuzz(func(t *testing.T, current, site []byte) {
		merged, _, err := Merge(current, site)
		if err != nil || len(merged) == 0 {
			return
		}
		var whole struct{ Auths map[string]json.RawMessage }
		if err := json.Unmarshal(merged, &whole); err != nil {
			t.Fatalf("%q and %q became %q: %v", current, site, merged, err)
		}
		if !Has(merged, site) {
			t.Errorf("%q and %q became %q, which lacks some", current, site, merged)
		}
		before, err := readSecret(current)
		if err != nil {
			t.Fatal(err)
		}
		for name := range before.Auths {
			if _, kept := whole.Auths[name]; !kept {
				t.Errorf("%q of %q is lost", name, current)
			}
		}
	})
}
