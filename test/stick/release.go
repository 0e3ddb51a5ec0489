package stick

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/media/volume"
	"touchdown/backend/update"
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

// Order makes the order to install a release, whose program tells a version, on machines with nobody there, and its id. The spoil, where it is
// not nil, changes it before it is signed.
func Order(t testing.TB, key envelope.SigningKey, release []volume.File, version string, spoil func(*update.Order), serials ...string) (order volume.File, id string) {
	t.Helper()
	o := &update.Order{
		Schema: "touchdown.dev/update-order/v1", ID: rand.Text(), Version: version, Serials: serials,
		Program: fmt.Sprintf("%x", sha256.Sum256(release[0].Data)),
	}
	if spoil != nil {
		spoil(o)
	}
	text, err := o.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	return volume.File{Name: update.OrderFile, Data: text}, o.ID
}
