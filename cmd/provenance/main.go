// Command provenance writes how a release was made, as an in-toto statement with SLSA's provenance (v1) in JSON: which files, from which
// commit, with which tools. The same release makes the same bytes, so it names no time and no machine.
//
// With -pae it prints the bytes that a signature of that statement signs, and with -signature the statement in a signed envelope (DSSE):
// the key itself stays with openssl.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"touchdown/backend/envelope"
)

// What the words of a statement mean is told in assets/release/README.md.
const (
	payloadType   = "application/vnd.in-toto+json"
	predicateType = "https://slsa.dev/provenance/v1"
	buildType     = "https://touchdown.dev/release/v1"
)

func main() {
	var m made
	folder := flag.String("folder", "", "the folder of the release")
	flag.StringVar(&m.version, "version", "", "version of the release; one that ends in -dirty was made from files that are in no commit")
	flag.StringVar(&m.commit, "commit", "", "the commit that it was made from")
	flag.StringVar(&m.builder, "builder", "", "URI of who made it")
	tools := flag.String("tools", "", "the tools that it was made with, as NAME=VERSION,…")
	pae := flag.String("pae", "", "print what a signature of this statement signs, and nothing else")
	signature := flag.String("signature", "", "print the statement of -statement in an envelope with the signature in this file")
	statement := flag.String("statement", "", "the statement that was signed")
	key := flag.String("key", "", "public half of the key that signed it, as base64 of its DER form")
	flag.Parse()
	m.tools = strings.Split(*tools, ",")

	out, err := []byte(nil), error(nil)
	switch {
	case *pae != "":
		out, err = toSign(*pae)
	case *signature != "":
		out, err = signed(*statement, *signature, *key)
	default:
		out, err = write(os.DirFS(*folder), m)
	}
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "provenance: %v\n", err)
		os.Exit(1)
	}
}

// made is what a statement says of how a release was made.
type made struct {
	version, commit, builder string
	tools                    []string // NAME=VERSION
}

// write is the statement about all files of a release.
func write(release fs.FS, m made) ([]byte, error) {
	files, err := subjects(release)
	if err != nil {
		return nil, err
	}
	how, err := m.provenance()
	if err != nil {
		return nil, err
	}
	s := &intoto.Statement{Type: intoto.StatementTypeUri, Subject: files, PredicateType: predicateType, Predicate: how}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("the statement is not valid: %w", err)
	}
	return text(s)
}

// subjects are the files of a release by their path in it.
func subjects(release fs.FS) (files []*intoto.ResourceDescriptor, err error) {
	err = fs.WalkDir(release, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		f, err := release.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return err
		}
		files = append(files, &intoto.ResourceDescriptor{Name: path, Digest: map[string]string{"sha256": hex.EncodeToString(sum.Sum(nil))}})
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("there is no file in the release")
	}
	return files, err
}

// provenance is SLSA's predicate.
func (m made) provenance() (*structpb.Struct, error) {
	asked, err := structpb.NewStruct(map[string]any{"target": "release", "version": m.version})
	if err != nil {
		return nil, err
	}
	source := &intoto.ResourceDescriptor{Name: "touchdown", Digest: map[string]string{"gitCommit": m.commit}}
	if strings.HasSuffix(m.version, "-dirty") {
		if source.Annotations, err = structpb.NewStruct(map[string]any{"changed": "some files differ from the commit"}); err != nil {
			return nil, err
		}
	}
	used := []*intoto.ResourceDescriptor{source}
	for _, tool := range m.tools {
		name, version, ok := strings.Cut(tool, "=")
		if !ok || name == "" || version == "" {
			return nil, fmt.Errorf("the tool %q is not NAME=VERSION", tool)
		}
		used = append(used, &intoto.ResourceDescriptor{Name: name, Uri: "pkg:generic/" + name + "@" + version})
	}
	p := &slsa.Provenance{
		BuildDefinition: &slsa.BuildDefinition{BuildType: buildType, ExternalParameters: asked, ResolvedDependencies: used},
		RunDetails:      &slsa.RunDetails{Builder: &slsa.Builder{Id: m.builder}},
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("the provenance is not valid: %w", err)
	}
	data, err := protojson.Marshal(p)
	if err != nil {
		return nil, err
	}
	how := &structpb.Struct{}
	return how, protojson.Unmarshal(data, how)
}

// text is a statement in JSON. protojson puts in blanks by chance, so that nobody compares its output; a release is compared.
func text(s *intoto.Statement) ([]byte, error) {
	data, err := protojson.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// toSign is what a signature of the statement in a file signs.
func toSign(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return dsse.PAE(payloadType, data), nil
}

// signed is the statement in its envelope, on one line, as tools for in-toto expect it.
func signed(statement, signature, key string) ([]byte, error) {
	data, err := os.ReadFile(statement)
	if err != nil {
		return nil, err
	}
	sig, err := os.ReadFile(signature)
	if err != nil {
		return nil, err
	}
	public, err := envelope.ParsePublicKey(key)
	if err != nil {
		return nil, err
	}
	if !public.Signed(payloadType, data, sig) {
		return nil, fmt.Errorf("%s is not a signature of %s by this key", signature, statement)
	}
	return envelope.Enclose(payloadType, data, envelope.Signature{KeyID: public.ID(), Bytes: sig})
}
