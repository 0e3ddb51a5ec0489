package engine

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
	"touchdown/test/stick"
)

// authority makes a CA and its key, as PEM.
func authority(t *testing.T) (cert, key []byte) {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "site CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &pair.PublicKey, pair)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

// openAdvanced starts the engine with the advanced settings, beside the step that asks for the pull secret.
func (r *sealedRig) openAdvanced(t *testing.T) string {
	t.Helper()
	o := r.options()
	o.Media = media.NewWatcher(r.host.Machine)
	r.w.asks = func(cfg *site.Config) []steps.Stage { return steps.Site(cfg, steps.Wiring{})[3:4] }
	e, err := Open(o)
	must(t, err)
	r.Engine = e
	t.Cleanup(func() { _ = e.Close() })
	until(t, r, "the form", inState(view.Collecting))
	return take(t, r)
}

// field is a field as the consoles see it.
func (r *sealedRig) field(t *testing.T, path string) view.Field {
	t.Helper()
	s, err := r.Snapshot(t.Context())
	must(t, err)
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			for _, f := range step.Fields {
				if f.Path == path {
					return f
				}
			}
		}
	}
	t.Fatalf("no field %s", path)
	return view.Field{}
}

const bundlePath = "spec.additionalTrustBundle"

// TestAFileFromAStick: a person takes a bundle of CAs and a pull secret from files on a stick. The list tells what lies there, each value
// tells where it comes from, in the review too, and no secret is told.
func TestAFileFromAStick(t *testing.T) {
	r := newSealedRig(t)
	ca, _ := authority(t)
	secret := `{"auths":{"r.example":{"auth":"c2VjcmV0OnNlY3JldA=="}}}`
	stick.Plug(t, r.host.Root(), "sdb", stick.Files(t, "TOUCHDOWN", volume.File{Name: "ca.pem", Data: ca}, volume.File{Name: "Pull Secret.json", Data: []byte(secret)}))
	stick.Plug(t, r.host.Root(), "sdc", make([]byte, 1<<20))
	token := r.openAdvanced(t)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath}))
	s, err := r.Snapshot(t.Context())
	must(t, err)
	if len(s.Volumes) != 2 || s.Volumes[0].Name != "TOUCHDOWN (sdb)" || !slices.Equal(s.Volumes[0].Files, []chosen.File{{Path: "ca.pem", Bytes: int64(len(ca))}, {Path: "Pull Secret.json", Bytes: int64(len(secret))}}) {
		t.Fatalf("%+v", s.Volumes)
	}
	if why := s.Volumes[1].Why.String(); s.Volumes[1].Name != "sdc" || !strings.Contains(why, "MED-KND") {
		t.Errorf("a volume that is not read: %+v", s.Volumes[1])
	}
	id := s.Volumes[0].ID
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath, Volume: id, Value: "ca.pem"}))
	if f := r.field(t, bundlePath); f.Value != string(ca) || f.Source != chosen.From("TOUCHDOWN", "ca.pem") || f.Problem.String() != "" {
		t.Errorf("%+v", f)
	}
	if s, err = r.Snapshot(t.Context()); err != nil || len(s.Volumes) > 0 {
		t.Errorf("the list is still there: %v, %v", s.Volumes, err)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: "spec.pullSecret", Volume: id, Value: "Pull Secret.json"}))
	if f := r.field(t, "spec.pullSecret"); !f.SecretSet || f.Value != "" || f.Source != chosen.From("TOUCHDOWN", "Pull Secret.json") {
		t.Errorf("%+v", f)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
	must(t, (&lander{Engine: r.Engine}).reviewFor(t.Context(), token))
	s, err = r.Snapshot(t.Context())
	must(t, err)
	for _, want := range []string{"Trusted CAs of the site: from ca.pem on stick TOUCHDOWN", "Pull secret: from Pull Secret.json on stick TOUCHDOWN"} {
		if !slices.Contains(message.English(s.Review.Files), want) {
			t.Errorf("the review does not tell %q: %v", want, s.Review.Files)
		}
	}
	r.tellsNo(t, "c2VjcmV0OnNlY3JldA")
}

// tellsNo wants a secret in none of the engine's files but its own.
func (r *sealedRig) tellsNo(t *testing.T, secret string) {
	t.Helper()
	must(t, filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) == "secrets" {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s has it", path)
		}
		return err
	}))
}

// TestAWrongFileFromAStick: each is refused with the reason, nothing of it is kept or told, and the field stays as it was.
func TestAWrongFileFromAStick(t *testing.T) {
	r := newSealedRig(t)
	ca, key := authority(t)
	large := bytes.Repeat([]byte("# a line\n"), 60<<10)
	stick.Plug(t, r.host.Root(), "sdb", stick.Files(t, "TOUCHDOWN",
		volume.File{Name: "ca.pem", Data: ca}, volume.File{Name: "both.pem", Data: append(slices.Clone(ca), key...)}, volume.File{Name: "large.pem", Data: large},
		volume.File{Name: "program", Data: []byte("\x7fELF\x02\x01\x01\x00\xff\xfe")}, volume.File{Name: "words.txt", Data: []byte("hunter2 is not a certificate\n")},
		volume.File{Name: "empty.pem"}))
	token := r.openAdvanced(t)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath}))
	s, err := r.Snapshot(t.Context())
	must(t, err)
	id := s.Volumes[0].ID
	for file, want := range map[string]string{
		"both.pem": "MED-VAL: The file both.pem is not taken: it holds a private key.", "large.pem": "it is 552960 bytes long, more than the 262144",
		"program": "MED-VAL: The file program is not taken: it ", "words.txt": "it holds no certificate", "empty.pem": "MED-MPTY",
	} {
		err := r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath, Volume: id, Value: file})
		p := problem.From(err)
		if !strings.Contains(p.Error(), want) || p.Fix.String() == "" || strings.Contains(p.Error()+p.Fix.String(), "hunter2") {
			t.Errorf("%s: %v", file, err)
		}
		if fix := p.Fix.String(); p.Code == "MED-VAL" && !strings.HasPrefix(fix, "Choose ") { // the person has the stick, and no editor
			t.Errorf("%s: what to do is %s", file, fix)
		}
		if f := r.field(t, bundlePath); f.Value != "" || f.Changed || f.Problem.String() != "" {
			t.Errorf("%s: %+v", file, f)
		}
	}
	for what, a := range map[string]session.Action{
		"a file that nobody was shown":  {Path: bundlePath, Volume: id, Value: "../../etc/shadow"},
		"another volume":                {Path: bundlePath, Volume: "sda 8:0 1 1", Value: "ca.pem"},
		"a field that takes none":       {Path: "spec.hostname", Volume: id, Value: "ca.pem"},
		"a field that no page asks for": {Path: "apiVersion", Volume: id, Value: "ca.pem"},
	} {
		a.Verb = session.Act
		if err := r.Do(t.Context(), token, a); err == nil || !strings.Contains(err.Error(), session.ErrNotFound.Error()) {
			t.Errorf("%s: %v", what, err)
		}
	}
	stick.Pull(t, r.host.Root(), "sdb")
	if err := r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath, Volume: id, Value: "ca.pem"}); problem.From(err).Code != "MED-AWAY" {
		t.Errorf("a stick that was pulled out: %v", err)
	}
	r.tellsNo(t, "hunter2")
	r.tellsNo(t, strings.Split(string(key), "\n")[1])
}

// TestAMediumLeavesAFilesValue: what a person took from a file is theirs, as what they typed; a medium's answers leave it.
func TestAMediumLeavesAFilesValue(t *testing.T) {
	r := newSealedRig(t)
	ca, _ := authority(t)
	stick.Plug(t, r.host.Root(), "sdb", stick.Files(t, "TOUCHDOWN", volume.File{Name: "ca.pem", Data: ca}))
	token := r.openAdvanced(t)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath}))
	s, err := r.Snapshot(t.Context())
	must(t, err)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath, Volume: s.Volumes[0].ID, Value: "ca.pem"}))
	r.mu.Lock()
	begun := r.core.draft.begun()
	err = r.core.draft.fill(map[string]string{bundlePath: "", "spec.baseDomain": "stick.example"}, &media.Taken{Source: "stick SITECONFIG", Use: func() error { return nil }})
	r.mu.Unlock()
	if err != nil || !begun {
		t.Fatalf("%v, begun %t", err, begun)
	}
	if f := r.field(t, bundlePath); f.Value != string(ca) || f.Source != chosen.From("TOUCHDOWN", "ca.pem") {
		t.Errorf("%+v", f)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath}))
	if s, err = r.Snapshot(t.Context()); err != nil || len(s.Volumes) != 1 {
		t.Errorf("the list of files: %v, %v", s.Volumes, err)
	}
	must(t, r.ReleaseControl(t.Context(), token))
	if s, err = r.Snapshot(t.Context()); err != nil || len(s.Volumes) > 0 {
		t.Errorf("the list of files outlives control: %v, %v", s.Volumes, err)
	}
}

// TestTheListOfFilesIsBounded: of many files on a stick the first are listed, and that there are more.
func TestTheListOfFilesIsBounded(t *testing.T) {
	v := media.Volume{Files: make([]media.File, longestList)}
	if got := shownOf(v); len(got.Files) != longestList || got.More {
		t.Errorf("%d files, more %t", len(got.Files), got.More)
	}
	v.Files = append(v.Files, media.File{Path: "last"})
	if got := shownOf(v); len(got.Files) != longestList || !got.More {
		t.Errorf("of one more: %d files, more %t", len(got.Files), got.More)
	}
}

// TestTheListOfFilesChangesNothing: a look at the files on a stick leaves the review as it was; the support bundle has none of them.
func TestTheListOfFilesChangesNothing(t *testing.T) {
	r := newSealedRig(t)
	stick.Plug(t, r.host.Root(), "sdb", stick.Files(t, "TOUCHDOWN", volume.File{Name: "private-000.txt", Data: []byte("x")}))
	token := r.openAdvanced(t)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
	must(t, (&lander{Engine: r.Engine}).reviewFor(t.Context(), token))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: bundlePath}))
	s, err := r.Snapshot(t.Context())
	must(t, err)
	if len(s.Volumes) != 1 || len(s.Volumes[0].Files) != 1 {
		t.Errorf("%d volumes: %+v", len(s.Volumes), s.Volumes)
	}
	if s.Review == nil || s.State != view.Reviewed {
		t.Errorf("the list took the review away: %s", s.State)
	}
	files, err := gather(t.Context(), r.Engine, 1<<20)
	must(t, err)
	for _, f := range files {
		if bytes.Contains(f.Data, []byte("private-000")) {
			t.Errorf("the support bundle tells it in %s", f.Name)
		}
	}
}

// TestAFolderFromAStick: a person takes the files of a folder for the cluster's objects, together and in the order of their names. Other
// fields are shown no folders, and a mistake names the file in the folder.
func TestAFolderFromAStick(t *testing.T) {
	const first, second = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: a}\n"
	r := newSealedRig(t)
	packed, err := os.Open("testdata/folders.img.gz") // mkfs.vfat and mcopy made it
	must(t, err)
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	must(t, err)
	image, err := io.ReadAll(unpacked)
	must(t, err)
	stick.Plug(t, r.host.Root(), "sdb", image)
	token := r.openAdvanced(t)
	const path = "spec.manifests"
	folders := func(path string) (some []string, id string) {
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: path}))
		s, err := r.Snapshot(t.Context())
		must(t, err)
		for _, f := range s.Volumes[0].Files {
			if strings.HasSuffix(f.Path, "/") {
				some = append(some, f.Path)
			}
		}
		return some, s.Volumes[0].ID
	}
	if some, _ := folders(bundlePath); some != nil {
		t.Errorf("a field of one file is shown %q", some)
	}
	some, id := folders(path)
	if !slices.Equal(some, []string{"hub/", "twice/"}) {
		t.Fatalf("%q", some)
	}
	err = r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: path, Volume: id, Value: "twice/"})
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "MED-VAL" || !strings.Contains(p.Summary.String(), `the file "twice/b.yaml" has Namespace a twice, in its line 1`) {
		t.Errorf("twice: %v", err)
	}
	for _, no := range []string{"hub", "other/", "/", "hub/../hub/"} {
		if err := r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: path, Volume: id, Value: no}); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s: %v", no, err)
		}
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: path, Volume: id, Value: "hub/"}))
	if f := r.field(t, path); !f.SecretSet || f.Source != chosen.From("TOUCHDOWN", "hub/") {
		t.Errorf("%+v", f)
	}
	e := r.Engine
	e.mu.Lock()
	text, _ := e.core.draft.site.Get(path)
	e.mu.Unlock()
	if text != first+"---\n"+second {
		t.Errorf("%q", text)
	}
}
