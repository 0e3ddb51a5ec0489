// Package update puts the program of a signed release in the place of a node's program, and takes the one before it back. Before it
// has that place, its engine has answered on this node: see Change.
package update

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// The files of a release that count here, as assets/release/release.mk names them.
const (
	programFile   = "touchdown"
	sumsFile      = "SHA256SUMS"
	signatureFile = "SHA256SUMS.sig"
)

// A list of check sums has some 100 lines; a signature (Ed25519) has 64 bytes; the program has 65 MiB.
const (
	mostSums      = 256 << 10
	mostSignature = 1 << 10
	mostProgram   = host.MaxFile
)

// Release is the program of a release whose signature holds.
type Release struct {
	Signer  string // the id of the key that signed it
	program []byte
}

// Keys are those that a node goes by; nil where it was given none.
type Keys struct {
	Releases *envelope.Trust
	Media    *envelope.Trust // good for no release, whatever else may say that they are
}

// Files are the names of those that make a release, beside each other.
func Files() []string { return []string{programFile, sumsFile, signatureFile} }

// Read reads the release in a folder. Nothing of it counts that no key for releases has signed (UPD-SGN, UPD-NKEY, UPD-MKEY, UPD-SUM;
// UPD-READ where a file is missing).
func Read(folder string, keys Keys) (*Release, error) {
	return From(folder, keys, func(name string, most int64) ([]byte, error) { return read(folder, name, most) })
}

// From reads a release from another place, a volume say, as Read does. What read returns is what is judged and what is installed: it is
// called once for each file, for the program only when the signature holds.
func From(folder string, keys Keys, read func(name string, most int64) ([]byte, error)) (*Release, error) {
	sums, err := read(sumsFile, mostSums)
	if err != nil {
		return nil, err
	}
	signature, err := read(signatureFile, mostSignature)
	if err != nil {
		return nil, err
	}
	signer, err := keys.signer(folder, sums, signature)
	if err != nil {
		return nil, err
	}
	program, err := read(programFile, mostProgram)
	if err != nil {
		return nil, err
	}
	if err := whole(folder, sums, program); err != nil {
		return nil, err
	}
	return &Release{signer, program}, nil
}

// Unsigned reads the files of a release in a folder, for a medium: whether the program is the one of the check sums, and not who signed
// them, which the node judges.
func Unsigned(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, most := range map[string]int64{programFile: mostProgram, sumsFile: mostSums, signatureFile: mostSignature} {
		data, err := read(folder, name, most)
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return files, whole(folder, files[sumsFile], files[programFile])
}

// whole refuses a program that is not the one of the check sums.
func whole(folder string, sums, program []byte) error {
	if want, found := sumOf(sums, programFile); !found || want != sha256.Sum256(program) {
		return &problem.Problem{
			Code: "UPD-SUM", Summary: message.F("The program in %s is not the one that the release was signed for.", folder),
			Fix: message.T("Copy the release again, whole: the copy is damaged, or someone has exchanged the program."),
		}
	}
	return nil
}

// signer is the key that has signed a release.
func (k Keys) signer(folder string, sums, signature []byte) (string, error) {
	if k.Media != nil {
		if id, ok := k.Media.SignedFile(sums, signature); ok {
			return "", &problem.Problem{
				Code: "UPD-MKEY", Summary: message.F("The release in %s is signed with the key %s, which is for site media and not for releases.", folder, id),
				Fix: message.T("Make a key with `touchdown media keygen --release NAME`, sign with `make release KEY=NAME.key`, and bring NAME.pub: touchdown factory bake --release-key NAME.pub, or this command with --key NAME.pub."),
			}
		}
	}
	if k.Releases == nil {
		return "", &problem.Problem{
			Code: "UPD-NKEY", Summary: message.T("This node trusts no key that signs releases."),
			Fix: message.T("Give the public half of the key that signed the release: touchdown update FOLDER --key release.pub. The factory adds it with touchdown factory --release-key."),
		}
	}
	if id, ok := k.Releases.SignedFile(sums, signature); ok {
		return id, nil
	}
	return "", &problem.Problem{
		Code: "UPD-SGN", Summary: message.F("No key that this node trusts for releases has signed the release in %s.", folder),
		Fix: message.T("Take the stick out, and get a release from whoever made this node. An engineer can name another key with --key."),
	}
}

func read(folder, name string, most int64) ([]byte, error) {
	data, whole, err := host.ReadBeneath(folder, name, most)
	if err == nil && !whole {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	if err != nil {
		return nil, &problem.Problem{
			Code: "UPD-READ", Summary: message.F("%s of the release in %s cannot be read.", name, folder),
			Fix: message.F("Give the folder with %s, %s and %s, as `make release` with KEY makes them.", programFile, sumsFile, signatureFile), Err: err,
		}
	}
	return data, nil
}

// sumOf finds the check sum of a file in the output of sha256sum. A name that stands there twice has none.
func sumOf(sums []byte, name string) (sum [sha256.Size]byte, found bool) {
	for line := range strings.Lines(string(sums)) {
		digits, file, _ := strings.Cut(strings.TrimRight(line, "\n"), "  ")
		if file != name {
			continue
		}
		decoded, err := hex.DecodeString(digits)
		if err != nil || len(decoded) != len(sum) || found {
			return sum, false
		}
		sum, found = [sha256.Size]byte(decoded), true
	}
	return sum, found
}

// Sum is the SHA-256 of the program, in hexadecimal.
func (r *Release) Sum() string {
	sum := sha256.Sum256(r.program)
	return hex.EncodeToString(sum[:])
}

// Is tells whether the node has this program already.
func (r *Release) Is(n Node) bool {
	have, err := n.ReadFile(layout.Program)
	return err == nil && bytes.Equal(have, r.program)
}

// Try has the program tell its version on this machine, and changes nothing (UPD-STRT; UPD-PAST where it is older than the node's).
func (r *Release) Try(ctx context.Context, n Node, older bool) (version string, err error) {
	if err := n.WriteFile(layout.CheckedProgram, r.program, 0o755); err != nil {
		return "", err
	}
	version, err = versionOf(ctx, n, layout.CheckedProgram)
	if has, wrong := versionOf(ctx, n, layout.Program); err == nil && wrong == nil && !older {
		err = past(version, has)
	}
	if err := errors.Join(err, n.Remove(layout.CheckedProgram)); err != nil {
		return "", err
	}
	return version, nil
}

func versionOf(ctx context.Context, n Node, file string) (string, error) {
	said, err := n.Run(ctx, file, "version")
	if err != nil {
		return "", &problem.Problem{
			Code: "UPD-STRT", Summary: message.T("The program does not start on this node. Nothing was changed."),
			Fix: message.T("Check whether the release is for this processor (uname -m)."), Err: err,
		}
	}
	return strings.TrimSpace(said), nil
}
