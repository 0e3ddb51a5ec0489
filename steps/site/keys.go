package site

import (
	"crypto/rsa"
	"encoding/pem"
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/message"

	"golang.org/x/crypto/ssh"
)

// maxKeyCount is more people than have to log in to one node. Chosen.
const maxKeyCount = 100

// sshKeys reports what is wrong with a text of public SSH keys, one a line. Its errors never hold any of it, since a
// private key may have been given by mistake.
func sshKeys(s string) error {
	if block, _ := pem.Decode([]byte(s)); block != nil || strings.Contains(s, "---- BEGIN SSH2") {
		return fault(message.T("convert it with ssh-keygen -i, to a line that starts with ssh- or ecdsa-"), message.T("is not in the form of an authorized_keys file"))
	}
	var seen []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, f := sshKey(line)
		if f != nil {
			f.Msg = message.F("has as key %s %s", ordinal(len(seen)), f.Msg)
			return f
		}
		if slices.Contains(seen, key) {
			return fault(message.T("keep one of them"), message.F("has key %s twice", ordinal(slices.Index(seen, key))))
		}
		seen = append(seen, key)
	}
	if len(seen) > maxKeyCount {
		return fault(message.T("keep the keys of those who need them"), message.F("has %d keys, more than %d", len(seen), maxKeyCount))
	}
	return nil
}

func ordinal(i int) string { return strconv.Itoa(i + 1) }

// sshKey returns the key itself, by which two lines are compared.
func sshKey(line string) (string, *Error) {
	key, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	fix := message.T("copy the whole line of the file that ends with .pub")
	switch {
	case err != nil:
		return "", fault(fix, message.T("a line that is not a public key"))
	case len(options) > 0: // sshd(8): command=, from= and others restrict or redirect the login
		return "", fault(message.T("remove what stands before the type of the key"), message.T("options in front of the key"))
	case strings.Contains(comment, "ssh-") || strings.Contains(comment, "AAAA"):
		return "", fault(message.T("write one key on a line"), message.T("a line that holds two keys"))
	case strings.Contains(key.Type(), "-cert-"):
		return "", fault(message.T("give the plain public key"), message.T("a certificate"))
	}
	if outer, ok := key.(ssh.CryptoPublicKey); ok {
		if public, ok := outer.CryptoPublicKey().(*rsa.PublicKey); ok && public.N.BitLen() < minRSA {
			return "", fault(message.T("make a new key, for example with ssh-keygen -t ed25519"), message.F("an RSA key of %d bits, less than %d", public.N.BitLen(), minRSA))
		}
	}
	if key.Type() == "ssh-dss" {
		return "", fault(message.T("make a new key, for example with ssh-keygen -t ed25519"), message.T("a DSA key, which sshd no longer takes"))
	}
	return string(key.Marshal()), nil
}
