// Package login gives the people of a site their own way into the cluster: a new password of kubeadmin, and a kubeconfig for the
// API's new name.
package login

import (
	"crypto/rand"
	"fmt"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// User is the name to log in with.
const User = "kubeadmin"

// A password has the form that OpenShift's installer gives it, four groups of five characters and a hyphen between them: the
// login refuses fewer than 23 characters. It has small letters and digits alone, without those that look or sound alike, so that
// it can be read out over the telephone. 20 of 31 characters make 99 bits.
const (
	alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
	groups   = 4
	letters  = 5
)

// NewPassword makes a password.
func NewPassword() string {
	parts := make([]string, groups)
	for i := range parts {
		part := make([]byte, letters)
		for j := range part {
			part[j] = alphabet[below(len(alphabet))]
		}
		parts[i] = string(part)
	}
	return strings.Join(parts, "-")
}

// below returns a random number from 0 to n-1, each as likely as the others.
func below(n int) int {
	b := make([]byte, 1)
	for most := 256 / n * n; ; {
		_, _ = rand.Read(b) // it never fails: crypto/rand
		if int(b[0]) < most {
			return int(b[0]) % n
		}
	}
}

// Hash makes of a password what the cluster keeps of it: bcrypt, of the strength that the installer uses.
func Hash(password string) (string, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return "", fmt.Errorf("hashing the new password: %w", err)
	}
	return string(hash), nil
}
