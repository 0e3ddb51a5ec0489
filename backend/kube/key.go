package kube

import (
	"crypto"
	"errors"
	"fmt"

	"k8s.io/client-go/util/keyutil"
)

// PublicKey is the public part of a private key in PEM, in any form in which Kubernetes writes one. The error repeats
// nothing of the key.
func PublicKey(pem []byte) (crypto.PublicKey, error) {
	key, err := keyutil.ParsePrivateKeyPEM(pem)
	if err != nil {
		return nil, fmt.Errorf("reading a private key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("reading a private key: it cannot sign")
	}
	return signer.Public(), nil
}
