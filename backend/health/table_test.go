package health_test

import (
	"os"
	"strings"
	"testing"
)

// table are the rows of README.md that begin with a number.
func table(t *testing.T) (rows []string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "| "); ok && rest[0] >= '0' && rest[0] <= '9' {
			rows = append(rows, line)
		}
	}
	return rows
}

// quotes are the words in backquotes in a column of a row.
func quotes(row string, column int) (words []string) {
	cells := strings.Split(row, "|")
	if len(cells) <= column+1 {
		return nil
	}
	for i, word := range strings.Split(cells[column+1], "`") {
		if i%2 == 1 {
			words = append(words, word)
		}
	}
	return words
}
