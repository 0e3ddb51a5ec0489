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

// Read reads the release in a folder. Nothing of it counts that no key for releases has signed (UPD-SGN, UPD-NKEY, UPD-MKEY, UPD-SUM;
// UPD-READ where a file is missing).
func Read(folder string, keys Keys) (*Release, error) {
	sums, err := read(folder, sumsFile, mostSums)
	if err != nil {
		return nil, err
	}
	signature, err := read(folder, signatureFile, mostSignature)
	if err != nil {
		return nil, err
	}
	signer, err := keys.signer(folder, sums, signature)
	if err != nil {
		return nil, err
	}
	program, err := read(folder, programFile, mostProgram)
	if err != nil {
		return nil, err
	}
	if want, found := sumOf(sums, programFile); !found || want != sha256.Sum256(program) {
		return nil, &problem.Problem{
			Code: "UPD-SUM", Summary: message.F("The program in %s is not the one that the release was signed for.", folder),
			Fix: message.T("Copy the release again, whole: the copy is damaged, or someone has exchanged the program."),
		}
	}
	return &Release{signer, program}, nil
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
			Fix: message.T("Give the public half of the key that signed the release: touchdown update FOLDER --key release.pub. The factory lays it with touchdown factory --release-key."),
		}
	}
	if id, ok := k.Releases.SignedFile(sums, signature); ok {
		return id, nil
	}
	return "", &problem.Problem{
		Code: "UPD-SGN", Summary: message.F("No key that this node trusts for releases has signed the release in %s.", folder),
		Fix: message.T("Take the release from whoever made this node. `touchdown media keygen --release` made the key; its public half may be given with --key."),
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

// Is tells whether the node has this program already.
func (r *Release) Is(n Node) bool {
	have, err := n.ReadFile(layout.Program)
	return err == nil && bytes.Equal(have, r.program)
}

// Try has the program tell its version on this machine, and changes nothing (UPD-STRT).
func (r *Release) Try(ctx context.Context, n Node) (version string, err error) {
	if err := n.WriteFile(layout.CheckedProgram, r.program, 0o755); err != nil {
		return "", err
	}
	version, err = versionOf(ctx, n, layout.CheckedProgram)
	return version, errors.Join(err, n.Remove(layout.CheckedProgram))
}

func versionOf(ctx context.Context, n Node, file string) (string, error) {
	said, err := n.Run(ctx, file, "version")
	if err != nil {
		return "", &problem.Problem{
			Code: "UPD-STRT", Summary: message.T("The program does not start on this node. Nothing was changed."),
			Fix: message.T("Look whether the release is for this processor (uname -m)."), Err: err,
		}
	}
	return strings.TrimSpace(said), nil
}
