package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"touchdown/test/wait"
)

// banned are words that a good engineer does not use, with what to write instead. CONTRIBUTING.md has the glossary.
var banned = map[string]string{
	"anew": "again", "some" + "body": "someone", "mend": "fix, or repair for files", "mends": "fixes", "mended": "fixed", "mending": "fixing",
	"blow": "fault", "blows": "faults", "shelf": "image store, or storage", "calm": "what needs no reboot, or is at rest", "calmer": "see calm",
	"settle": "what is waited for, as in waitRolledOut", "settles": "see settle", "settled": "done, ready or rolled out", "settling": "see settle",
	"unsettled": "pending", "patience": "timeout", "patient": "with a long timeout", "impatient": "with a short timeout",
	"glance": "what it is, as in formTimeout", "sight": "what is seen, as in NodeNetwork", "handoff": "hand-over",
}

// phrases are banned too, where one line has them.
var phrases = map[string]string{
	"by itself": "automatically, or alone", "by themselves": "automatically, or alone", "stays as it is": "stays unchanged",
	"accept the difference": "waive the check", "accept it with your name": "waive the check", "accept another board": "waive the check",
	"accept the other version": "waive the check", "some minutes": "a few minutes", "some seconds": "a few seconds",
	"not looked at": "not checked", "within reach": "reachable, or at the site", "is waited for": "what waits for it", "are waited for": "what waits for them",
}

// isNo is a sentence that says of something what it is not, as in "is no file": write "is not a file". "There is no file" is right.
var isNo = regexp.MustCompile(`(?i)((?:\w+ ){0,2})\b(?:is|are|was|were) no (\w+)`)

// afterNo are the words with which "is no" is good English.
var afterNo = []string{"longer", "more", "use", "good", "matter", "reason", "worse", "harm", "bolder", "news", "word", "way", "one"}

// capitals are an acronym before another word of a name: "JSONFile".
var capitals = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)

// lead is what a line begins with before its words.
var lead = regexp.MustCompile(`^[\s/#>*-]+`)

// word is one word, a part of a name too: "waitsAgain" has two.
var word = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// TestPlainWords looks for banned words in every text of the tree: code, comments, screens, units and documents.
func TestPlainWords(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files").Output()
	if err != nil {
		wait.Unable(t, "this is not a checkout: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if name == "test/tree/words_test.go" || filepath.Base(name) == "go.sum" {
			continue
		}
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			continue // a link that leads somewhere on the bench's node, or a file that was just removed
		}
		n, glossary, before := 0, false, ""
		for line := range strings.Lines(string(data)) {
			n++
			if strings.HasPrefix(line, "## ") {
				glossary = name == "CONTRIBUTING.md" && strings.HasPrefix(line, "## Words")
			}
			if glossary {
				continue // it names what to avoid
			}
			text := lead.ReplaceAllString(strings.TrimSpace(line), "")
			joined := before + " " + text // a sentence may go on from the line before
			words := strings.Fields(text)
			old := len(before)
			before = strings.Join(words[max(0, len(words)-5):], " ")
			lower := strings.ToLower(joined)
			for phrase, instead := range phrases {
				if at := strings.LastIndex(lower, phrase); at >= 0 && at+len(phrase) > old {
					t.Errorf("%s:%d: write %s instead of %q", name, n, instead, phrase)
				}
			}
			var nots [][]int
			if strings.Contains(lower, " no ") { // the expression is slow
				nots = isNo.FindAllStringSubmatchIndex(joined, -1)
			}
			for _, at := range nots {
				if at[1] <= old {
					continue // of the line before
				}
				m := isNo.FindStringSubmatch(joined[at[0]:at[1]])
				if !strings.Contains(strings.ToLower(m[1]), "there ") && !slices.Contains(afterNo, m[2]) {
					t.Errorf("%s:%d: write %q", name, n, strings.Replace(m[0], " no ", " not a ", 1))
				}
			}
			line = strings.ReplaceAll(line, "udevadm settle", "udevadm") // the name of its command is not ours
			if !maybeBanned(lower) {
				continue
			}
			for _, w := range word.FindAllString(capitals.ReplaceAllString(line, "$1 $2"), -1) {
				if instead, bad := banned[strings.ToLower(w)]; bad {
					t.Errorf("%s:%d: write %s instead of %q", name, n, instead, w)
				}
			}
		}
	}
}

// maybeBanned is a quick look for a banned word, in a line or in a part of a word; the slow one splits names into words.
func maybeBanned(lower string) bool {
	for w := range banned {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}
