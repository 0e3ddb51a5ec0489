package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"touchdown/backend/envelope"
)

var (
	release = fstest.MapFS{"touchdown": {Data: []byte("program")}, "man/touchdown.1": {Data: []byte("page")}}
	how     = made{version: "v1.2.3", commit: strings.Repeat("a1", 20), builder: "https://example.com/ci", tools: []string{"go=1.25.1", "rustc=1.90.0"}}
)

// TestStatement: other programs read it, it has each file, the commit and the tools, and is the same again.
func TestStatement(t *testing.T) {
	first, err := write(release, how)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, err := write(release, how); err != nil || !bytes.Equal(again, first) {
			t.Fatalf("%v: written twice it differs:\n%s\n%s", err, first, again)
		}
	}
	var s intoto.Statement
	if err := protojson.Unmarshal(first, &s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	sums := map[string]string{}
	for _, f := range s.Subject {
		sums[f.Name] = f.Digest["sha256"]
	}
	// printf program | sha256sum; printf page | sha256sum
	if len(sums) != 2 || sums["touchdown"] != "1310ca2c8932dbd118668bd97442558a3e1f546b5e15c69699dfbd6024f548d8" || sums["man/touchdown.1"] != "3660315a9af3df255d8f19ab077e4797822b41488a0e2a04bc6af71213c23274" {
		t.Errorf("the files are %v", sums)
	}
	raw, err := protojson.Marshal(s.Predicate)
	if err != nil {
		t.Fatal(err)
	}
	var p slsa.Provenance
	if err := protojson.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	used := p.BuildDefinition.ResolvedDependencies
	if s.PredicateType != predicateType || p.RunDetails.Builder.Id != how.builder || len(used) != 3 ||
		used[0].Digest["gitCommit"] != how.commit || used[0].Annotations != nil || used[2].Uri != "pkg:generic/rustc@1.90.0" {
		t.Errorf("it says %s", raw)
	}
}

// TestChangedFilesAreTold: a release of what is in no commit says so.
func TestChangedFilesAreTold(t *testing.T) {
	dirty := how
	dirty.version += "-dirty"
	text, err := write(release, dirty)
	if err != nil || !strings.Contains(string(text), "some files differ from the commit") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestNothingIsLeftOut: a statement without one of its parts is refused.
func TestNothingIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*made)
		files  fstest.MapFS
	}{
		"no commit":      {func(m *made) { m.commit = "" }, release},
		"a short commit": {func(m *made) { m.commit = "a1a1a1" }, release},
		"no builder":     {func(m *made) { m.builder = "" }, release},
		"no tools":       {func(m *made) { m.tools = strings.Split("", ",") }, release},
		"a tool alone":   {func(m *made) { m.tools = []string{"go="} }, release},
		"no files":       {func(*made) {}, fstest.MapFS{}},
	} {
		m := how
		c.change(&m)
		if text, err := write(c.files, m); err == nil {
			t.Errorf("%s: written all the same:\n%s", name, text)
		}
	}
}

// TestSigned: what openssl signs with a key for releases is an envelope that verifies; a signature of something else is refused.
func TestSigned(t *testing.T) {
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := key.Files()
	if err != nil {
		t.Fatal(err)
	}
	half, _ := pem.Decode(public)
	statement := filepath.Join(t.TempDir(), "provenance.json")
	signature := statement + ".sig"
	text, err := write(release, how)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(statement, text, 0o600); err != nil {
		t.Fatal(err)
	}
	bytesToSign, err := toSign(statement)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(signature, sign(t, private, bytesToSign), 0o600); err != nil {
		t.Fatal(err)
	}
	line, err := signed(statement, signature, base64.StdEncoding.EncodeToString(half.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	parcel, err := envelope.OpenAs(payloadType, line)
	if err != nil || !bytes.Equal(parcel.Payload, text) || !key.Public().Signed(payloadType, parcel.Payload, parcel.Signatures[0].Bytes) {
		t.Errorf("%v: the envelope is %s", err, line)
	}
	if err := os.WriteFile(signature, sign(t, private, text), 0o600); err != nil {
		t.Fatal(err)
	}
	if line, err := signed(statement, signature, base64.StdEncoding.EncodeToString(half.Bytes)); err == nil {
		t.Errorf("a signature of something else is taken: %s", line)
	}
}

// sign does what openssl pkeyutl -sign -rawin does.
func sign(t *testing.T, private, data []byte) []byte {
	t.Helper()
	block, _ := pem.Decode(private)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.Sign(key.(ed25519.PrivateKey), data)
}
