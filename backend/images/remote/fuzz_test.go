package remote

import (
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/images/ref"
)

// FuzzManifest reads what a registry sends as a manifest or an index.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{"digest":"` + sum("a") + `","size":1},"layers":[{"digest":"` + sum("b") + `","size":2}]}`))
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{"digest":"` + sum("a") + `","platform":{"os":"linux","architecture":"amd64"}},null]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := decode(body)
		if err != nil {
			return
		}
		all, err := m.blobs()
		if err != nil {
			return
		}
		if total := (Image{Blobs: all}).Size(); total < 0 {
			t.Errorf("a total of %d", total)
		}
	})
}

// FuzzSettings reads registries.conf and finds the places of a name.
func FuzzSettings(f *testing.F) {
	f.Add([]byte("[[registry]]\nprefix=\"*.example.com\"\nlocation=\"a.example.com\"\n[[registry.mirror]]\nlocation=\"m:5000/x\"\n"), "r.example.com/a:1")
	f.Add([]byte("[[registry]]\nlocation=\"quay.io\"\nblocked=true\n"), "quay.io/a@"+sum("a"))
	f.Fuzz(func(t *testing.T, conf []byte, name string) {
		m := hosttest.New(t)
		m.File(confFile, string(conf))
		all, err := readMirrors(m.Machine)
		if err != nil {
			return
		}
		if r, err := ref.Parse(name); err == nil {
			all.sources(r)
		}
	})
}

// FuzzChallenge reads what a registry asks a client to log in with.
func FuzzChallenge(f *testing.F) {
	f.Add(`Bearer realm="https://auth.example/token",service="s",scope="repository:a:pull"`)
	f.Add(`Basic realm="x"`)
	f.Add(`bearer realm="http://[::1"`)
	f.Fuzz(func(t *testing.T, challenge string) {
		parsed, err := ref.Parse("quay.io/a/b:1")
		if err != nil {
			t.Fatal(err)
		}
		if at, err := realm(source{ref: parsed}, challenge); err == nil && (at.Scheme != "https" || at.Host == "") {
			t.Errorf("%q leads to %s", challenge, at)
		}
	})
}
