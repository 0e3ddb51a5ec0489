package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"touchdown/backend/images"
)

// Without a person and without --yes nothing is even looked at.
func TestPruneAsksOrRefuses(t *testing.T) {
	var out bytes.Buffer
	root := newRoot(hooks{root: t.TempDir()})
	root.SetIn(strings.NewReader("y\n"))
	root.SetErr(&out)
	if code := execute(t.Context(), root, []string{"images", "prune"}); code != exitUsage || !strings.Contains(out.String(), "CTR-ASK  Nobody can be asked here") {
		t.Errorf("ended with %d: %s", code, out.String())
	}
	for answer, want := range map[string]error{"y\n": nil, "YES\n": nil, "\n": errNo, "n\n": errNo, "yup\n": errNo} {
		keys, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keys.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		var asked bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		cmd.SetIn(tty)
		cmd.SetErr(&asked)
		if err := confirmed(cmd, "Remove 2 images from the store?"); !errors.Is(err, want) || asked.String() != "Remove 2 images from the store? [y/N] " {
			t.Errorf("%q: %v after %q", answer, err, asked.String())
		}
		keys.Close()
		tty.Close()
	}
}

func TestPruneTable(t *testing.T) {
	var b strings.Builder
	printLeftovers(&b, images.Leftovers{Kept: 3, Layers: 2, Bytes: 1_500_000, Images: []images.Leftover{
		{ID: strings.Repeat("a", 64), Names: []string{"quay.io/plant/\x1b[2Japp:1"}, Named: []string{"Job plant/\x1bold", "Pod plant/ended"}, Size: 5_000_000},
		{ID: strings.Repeat("b", 64), Size: 900},
	}})
	got := b.String()
	for line := range strings.Lines(got) {
		if len(line) > 81 || strings.Contains(line, "\x1b") {
			t.Errorf("%d columns: %q", len(line), line)
		}
	}
	for _, want := range []string{"plant/?old +1", "  5.0 MB\n", "bbbbbbbbbbbb ", "Nobody needs 2 images; 3 stay. Without them 1.5 MB of 2 layers would be free,"} {
		if !strings.Contains(got, want) {
			t.Errorf("not there: %q in\n%s", want, got)
		}
	}
	b.Reset()
	printLeftovers(&b, images.Leftovers{Kept: 1})
	if b.String() != "Every image of the store is needed (1): there is nothing to remove.\n" {
		t.Error(b.String())
	}
}

// A move without the right to reboot is refused before anything is begun.
func TestMoveNeedsAReboot(t *testing.T) {
	for flag, want := range map[string]string{"--no-power": "--move needs a reboot", "--no-reboot": "none of the others can be"} {
		var out bytes.Buffer
		root := newRoot(hooks{root: t.TempDir()})
		root.SetErr(&out)
		if code := execute(t.Context(), root, []string{"images", "seed", "--move", flag}); code == exitOK || !strings.Contains(out.String(), want) {
			t.Errorf("%s: ended with %d: %s", flag, code, out.String())
		}
	}
}
