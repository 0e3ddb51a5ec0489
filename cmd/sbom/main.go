// Command sbom writes what a released program consists of, as an SPDX 2.3 document in JSON: the Go modules that the program itself
// names, and the Rust crates that libnmstate is locked to. The same program and time make the same bytes.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"
)

func main() {
	program := flag.String("program", "", "the released program")
	lock := flag.String("lock", "", "Cargo.lock of libnmstate")
	version := flag.String("version", "", "version of the release")
	epoch := flag.Int64("epoch", 0, "time of the commit in seconds since 1970, which SPDX asks for")
	flag.Parse()
	if err := write(os.Stdout, *program, *lock, *version, time.Unix(*epoch, 0).UTC()); err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(1)
	}
}

func write(out io.Writer, program, lock, version string, made time.Time) error {
	image, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("reading the program: %w", err)
	}
	info, err := buildinfo.Read(bytes.NewReader(image))
	if err != nil {
		return fmt.Errorf("reading what %s consists of: %w", program, err)
	}
	text, err := os.ReadFile(lock)
	if err != nil {
		return fmt.Errorf("reading the crates: %w", err)
	}
	crates, err := cratesIn(text)
	if err != nil {
		return fmt.Errorf("%s: %w", lock, err)
	}
	sum := sha256.Sum256(image)
	d := document(version, hex.EncodeToString(sum[:]), made, append(modules(info), crates...))
	if err := spdxlib.ValidateDocument(d); err != nil {
		return fmt.Errorf("the document is not valid: %w", err)
	}
	return spdxjson.Write(d, out, spdxjson.Indent("  "), spdxjson.EscapeHTML(false))
}

// part is a piece of software that is linked into the program.
type part struct {
	name, version string
	purl          string // https://github.com/package-url/purl-spec
	source        string // where it is fetched from
	sha256        string // of what is fetched; "" where only its maker's own kind of digest is known
	digest        string // that digest
}

// program is the id of the released program in the document.
const program = common.ElementID("touchdown")

// document is the list of parts as SPDX has it. Licences are not looked into: NOASSERTION is SPDX's word for that.
func document(version, sum string, made time.Time, parts []part) *spdx.Document {
	whole := element(program, part{name: "touchdown", version: version, source: "NOASSERTION", sha256: sum})
	whole.PrimaryPackagePurpose = "APPLICATION"
	d := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: "touchdown-" + version, DocumentNamespace: "https://touchdown.dev/spdx/touchdown-" + version + "-" + sum,
		CreationInfo: &spdx.CreationInfo{
			Created:        made.Format(time.RFC3339),
			Creators:       []common.Creator{{CreatorType: "Tool", Creator: "touchdown-release-sbom"}},
			CreatorComment: "The time is that of the commit. Crates that libnmstate only needs to be built are listed too.",
		},
		Packages:      []*spdx.Package{whole},
		Relationships: []*spdx.Relationship{relation("DOCUMENT", "DESCRIBES", program)},
	}
	for i, p := range parts {
		id := common.ElementID(fmt.Sprintf("part-%d", i+1))
		d.Packages = append(d.Packages, element(id, p))
		d.Relationships = append(d.Relationships, relation(program, "DEPENDS_ON", id))
	}
	return d
}

func relation(from common.ElementID, kind string, to common.ElementID) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.MakeDocElementID("", string(from)), Relationship: kind, RefB: common.MakeDocElementID("", string(to))}
}

func element(id common.ElementID, p part) *spdx.Package {
	e := &spdx.Package{
		PackageName: p.name, PackageSPDXIdentifier: id, PackageVersion: p.version, PackageDownloadLocation: p.source,
		PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "NOASSERTION", PackageCopyrightText: "NOASSERTION",
		PackageComment: p.digest,
	}
	if p.purl != "" {
		e.PackageExternalReferences = []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: p.purl}}
	}
	if p.sha256 != "" {
		e.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: p.sha256}}
	}
	return e
}

// modules are the Go modules that the program was linked from, and Go itself, whose library is in it.
func modules(info *buildinfo.BuildInfo) []part {
	parts := []part{{name: "go", version: info.GoVersion, purl: "pkg:golang/stdlib@" + bare(info.GoVersion), source: "https://go.dev/dl/"}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		p := part{name: m.Path, version: m.Version, purl: "pkg:golang/" + m.Path + "@" + m.Version, source: "https://proxy.golang.org/" + m.Path + "/@v/" + m.Version + ".zip"}
		if m.Sum != "" {
			p.digest = "go.sum: " + m.Sum
		}
		parts = append(parts, p)
	}
	return parts
}

// bare is Go's version without its first letters.
func bare(version string) string { return strings.TrimPrefix(version, "go") }
