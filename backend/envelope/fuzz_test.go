package envelope

import (
	"bytes"
	"strings"
	"testing"

	"touchdown/backend/problem"
)

// FuzzVerify holds that no text passes but an envelope with a document that the trusted key signed.
func FuzzVerify(f *testing.F) {
	key, public := newKey(f)
	good := trust(f, "", public)
	text := signed(f, key, Lock{}, nil)
	want, _, err := Verify(text, good)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(text), "", "{}", "null", `{"payloadType":"` + payloadType + `","payload":"e30=","signatures":[]}`, strings.Replace(string(text), `"sig":"`, `"sig":"A`, 1)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, signer, err := Verify(text, good)
		if err != nil {
			if p := problem.From(err); !strings.HasPrefix(p.Code, "MED-") || p.Fix.String() == "" {
				t.Fatal(err)
			}
			_, _ = Open(text)
			return
		}
		if signer != key.ID() || d.ID != want.ID || d.Serial != want.Serial || !bytes.Equal(d.Site, want.Site) {
			t.Fatalf("%+v passed", d)
		}
	})
}

// FuzzUnseal holds that a sealed site config opens as it was sealed, or not at all.
func FuzzUnseal(f *testing.F) {
	private, recipient, err := NewNodeKey()
	if err != nil {
		f.Fatal(err)
	}
	lock, err := NodeLock(recipient)
	if err != nil {
		f.Fatal(err)
	}
	d := New("SN1")
	if err := d.Seal([]byte(config), lock); err != nil {
		f.Fatal(err)
	}
	f.Add(d.Site)
	f.Add([]byte("age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 60\nAAAA\n--- AAAA\n"))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		other := Document{Sealed: ForNode, Site: sealed}
		if got, err := other.Unseal(private); err == nil && string(got) != config {
			t.Fatalf("it opened as %q", got)
		}
		other.Sealed = WithPassphrase
		if bytes.Contains(sealed, []byte(" 1")) { // up to 2^18 of work is accepted, which is too much for a fuzzer
			return
		}
		if _, err := other.Unseal("some passphrase"); err == nil {
			t.Fatal("any passphrase opens it")
		}
	})
}

// FuzzKeys holds that lists of keys are read or refused, and that what was read is usable.
func FuzzKeys(f *testing.F) {
	key, public := newKey(f)
	private, _, _ := key.Files()
	f.Add(public, []byte(key.ID()+" lost\n"))
	f.Add(private, []byte("# nothing\n"))
	f.Add(append(bytes.Clone(public), public...), []byte("\n\n"))
	f.Fuzz(func(t *testing.T, keys, revoked []byte) {
		if all, err := ParseTrust(keys, revoked); err == nil && len(all.keys) == 0 {
			t.Fatal("nobody is trusted")
		}
		if key, err := ParseSigningKey(keys); err == nil && !isKeyID(key.ID()) {
			t.Fatal(key.ID())
		}
	})
}
