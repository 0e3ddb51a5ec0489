package update

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// versionForm is what `git describe` makes of a tag: v1.2, v1.2.3, and v1.2-5-gabc for 5 commits behind it.
var versionForm = regexp.MustCompile(`^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?:-(\d{1,6})-g[0-9a-f]+)?$`)

// Older tells whether what a program says of its version is older than what another one says. Versions that have no order, as a commit
// without a tag, are not older.
func Older(says, than string) bool {
	a, b := numbers(says), numbers(than)
	return a != nil && b != nil && slices.Compare(a, b) < 0
}

// numbers are those of the version in "touchdown v1.4 linux/amd64 go1.26"; nil where it has no order.
func numbers(says string) []int {
	version, err := VersionIn(says)
	if err != nil {
		return nil
	}
	return parsed(version)
}

// VersionIn is the version in "touchdown v1.4 linux/amd64 go1.26".
func VersionIn(says string) (string, error) {
	words := strings.Fields(says)
	if len(words) < 2 || words[0] != "touchdown" {
		return "", fmt.Errorf("the program tells no version: %q", says)
	}
	return words[1], nil
}

// newer tells whether a version comes behind another one. Where one of them has no order, it does not.
func newer(version, than string) bool {
	a, b := parsed(version), parsed(than)
	return a != nil && b != nil && slices.Compare(a, b) > 0
}

// parsed are the numbers of "v1.4"; nil where it has no order.
func parsed(version string) []int {
	m := versionForm.FindStringSubmatch(version)
	if m == nil {
		return nil
	}
	var n []int
	for _, digits := range m[1:] {
		i, _ := strconv.Atoi(digits) // "" is 0, and six digits fit
		n = append(n, i)
	}
	return n
}

// past refuses an older program.
func past(says, than string) error {
	if !Older(says, than) {
		return nil
	}
	return &problem.Problem{
		Code: "UPD-PAST", Summary: message.F("The release is older than the program that this node has: %s, and the node has %s.", strings.Fields(says)[1], strings.Fields(than)[1]),
		Fix: message.T("Take the stick out: the node has a newer release. An engineer installs an older one with `touchdown update --older`, or goes back with `touchdown update --back`."),
	}
}
