// Package pin is the PIN that opens an idle console again, kept as a slow hash and never as what was typed.
package pin

import (
	"strings"
	"unicode"

	"golang.org/x/crypto/bcrypt"

	"touchdown/backend/message"
)

// The length of a PIN in characters. Six digits and the growing delay after a wrong one take a year to try out. bcrypt takes 72
// bytes at most.
const (
	shortest = 6
	longest  = 64
)

// What a hash costs to compute: 2^cost rounds. At 12 it takes a quarter of a second. A hash of a document may cost less, and never
// more: whoever wrote the document would keep the engine busy for as long as they like.
const (
	cost     = 12
	leastFor = 10
)

// Hash is the bcrypt hash of a PIN.
type Hash string

// Make hashes a PIN. A text that is a hash already is that hash, "" is none. The PIN has to have passed Check.
func Make(text string) Hash {
	if text == "" || hashed(text) {
		return Hash(text)
	}
	made, err := bcrypt.GenerateFromPassword([]byte(text), cost)
	if err != nil { // only for what Check refuses
		return ""
	}
	return Hash(made)
}

// Matches tells whether the hash is of this PIN.
func (h Hash) Matches(typed string) bool {
	return hashed(string(h)) && bcrypt.CompareHashAndPassword([]byte(h), []byte(typed)) == nil
}

// Valid tells whether it is a hash that a PIN can match.
func (h Hash) Valid() bool { return hashed(string(h)) }

// Check says what is wrong with a PIN, or with the hash of one; both texts are empty when nothing is. Neither repeats the PIN.
func Check(text string) (wrong, fix message.Text) {
	n := len([]rune(text))
	switch {
	case strings.HasPrefix(text, "$2") && !hashed(text):
		return message.T("is not a whole bcrypt hash"), message.F("give the PIN itself, or a bcrypt hash of cost %d to %d", leastFor, cost)
	case hashed(text):
		return message.Text{}, message.Text{}
	case n < shortest || n > longest || len(text) > longest:
		return message.T("is too short or too long"), message.F("use %d to %d digits or letters", shortest, longest)
	case strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) || r == ' ' }):
		return message.T("has characters that not every keyboard has"), message.T("use digits and letters without accents, and no spaces")
	case strings.Count(text, text[:1]) == len(text):
		return message.T("is one character again and again"), message.T("use different digits")
	}
	return message.Text{}, message.Text{}
}

// hashed tells whether a text is a bcrypt hash that costs no more than ours.
func hashed(text string) bool {
	c, err := bcrypt.Cost([]byte(text))
	return err == nil && len(text) == 60 && c >= leastFor && c <= cost
}
