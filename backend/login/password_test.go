package login

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// TestPasswords: each has the installer's form and no character that another one is taken for, and no two are the same.
func TestPasswords(t *testing.T) {
	form := regexp.MustCompile(`^([a-hj-km-np-z2-9]{5}-){3}[a-hj-km-np-z2-9]{5}$`)
	seen, used := map[string]bool{}, map[rune]bool{}
	for range 2000 {
		p := NewPassword()
		if !form.MatchString(p) || len(p) != 23 || seen[p] {
			t.Fatalf("%q", p)
		}
		seen[p] = true
		for _, r := range p {
			used[r] = true
		}
	}
	for _, r := range alphabet {
		if !used[r] {
			t.Errorf("%c never comes in 40,000 characters", r)
		}
	}
	if strings.ContainsAny(alphabet, "il1o0") || len(used) != len(alphabet)+1 {
		t.Errorf("the alphabet is %q, used are %d characters", alphabet, len(used))
	}
}

// TestHash: the hash is of the password and of the strength that the installer uses.
func TestHash(t *testing.T) {
	p := NewPassword()
	hash, err := Hash(p)
	if err != nil {
		t.Fatal(err)
	}
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil || cost != 10 || bcrypt.CompareHashAndPassword([]byte(hash), []byte(p)) != nil {
		t.Errorf("cost %d, %v", cost, err)
	}
}
