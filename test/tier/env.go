package main

import (
	"os"
	"regexp"
	"slices"
)

// stray are the variables that tests and the program ask for besides what all programs do: how often something is done, with what, where it is
// left. They are not in a row's key, so that a row has those alone that it sets itself.
var stray = regexp.MustCompile(`^((BENCH|CRASH|IMAGES|PROBE|PULL|STORE|TEST|TOUCHDOWN|WALK|WRONG)_\w+|FRESH|SSH_CONNECTION|TRANSCRIPT|WALKS)=`)

// environment is what rows run in: that of this program without what strayed into it, and what they set themselves.
func environment(more ...string) []string {
	return append(slices.DeleteFunc(os.Environ(), stray.MatchString), more...)
}
