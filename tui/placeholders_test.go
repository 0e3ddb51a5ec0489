package tui

import (
	"regexp"
	"testing"
)

// placeholder is what stands in a command line for something that the person knows.
var placeholder = regexp.MustCompile(`\b(FILE|FOLDER|NODE|REASON)\b`)

// TestPlaceholdersAreTranslated: who reads a command line in another language finds its placeholders in that language, too.
func TestPlaceholdersAreTranslated(t *testing.T) {
	for _, code := range Languages()[1:] {
		all, err := load(code)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []map[string]string{all.Console, all.Help, all.Engine} {
			for id, text := range part {
				if word := placeholder.FindString(text); word != "" {
					t.Errorf("%s: %q has %s in %q", code, id, word, text)
				}
			}
		}
	}
}
