package stick

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/media/volume"
)

// Release makes the files of a release with a program, signed as openssl does.
func Release(t testing.TB, key envelope.SigningKey, program string) []volume.File {
	t.Helper()
	private, _, err := key.Files()
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(private)
	secret, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	sums := fmt.Appendf(nil, "%x  touchdown\n", sha256.Sum256([]byte(program)))
	return []volume.File{
		{Name: "touchdown", Data: []byte(program)},
		{Name: "SHA256SUMS", Data: sums},
		{Name: "SHA256SUMS.sig", Data: ed25519.Sign(secret.(ed25519.PrivateKey), sums)},
	}
}
