package main

import (
	"bytes"
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// TestGuessesAreRound: a guess is said as people say it, and not as Go does.
func TestGuessesAreRound(t *testing.T) {
	for seconds, want := range map[float64]string{10: "10 s", 59.6: "1 min", 90: "1 min 30 s", 240: "4 min", 3900: "65 min"} {
		if got := roughly(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
}

// TestWhatFailedHasItsID, which --waive needs, and nothing else has: a check that passed, and one whose fix says the ID already.
func TestWhatFailedHasItsID(t *testing.T) {
	cpu := check.Check{ID: "hw-cpu", Title: message.T("Processors"), Status: check.Fail, Observed: message.T("2")}
	disk := check.Check{ID: "hw-disk", Title: message.T("Disk"), Status: check.Warn, Observed: message.T("120 GB")}
	memory := check.Check{ID: "hw-memory", Title: message.T("Memory"), Status: check.Pass, Observed: message.T("32 GiB")}
	shipped := check.Check{ID: "hw-shipped-disk-1", Title: message.T("As shipped: disk"), Status: check.Fail, Observed: message.T("gone"), Fix: message.T("Find it. (hw-shipped-disk-1)")}
	for _, c := range []struct {
		check check.Check
		want  string
	}{{cpu, "FAIL  Processors [hw-cpu]: 2"}, {disk, "WARN  Disk [hw-disk]: 120 GB"}, {memory, "PASS  Memory: 32 GiB"}, {shipped, "FAIL  As shipped: disk: gone"}} {
		if got := renderEvent(event.Event{Kind: event.Checked, Check: &c.check}); !strings.HasSuffix(got, c.want+"\n") {
			t.Errorf("event: %q, want %q", got, c.want)
		}
		c.want = strings.ToLower(c.want[:4]) + c.want[4:]
		if got := (&checked{Checks: []check.Check{c.check}}).text(nil); !strings.Contains(got, c.want+"\n") {
			t.Errorf("check: %q, want %q", got, c.want)
		}
	}
}

// TestAReviewTellsIDs in the lines of checks, those of two with the same words, too, and in no other.
func TestAReviewTellsIDs(t *testing.T) {
	dns := message.T("DNS server: no answer.")
	r := &view.Review{
		Problems: []message.Text{message.T("Processors: 2."), message.T("Base domain is missing"), dns, dns},
		Warnings: []message.Text{message.T("Disk: 120 GB.")},
		Checks: []view.Judged{
			{ID: "hw-cpu", Title: message.T("Processors"), Status: check.Fail, Text: message.T("Processors: 2.")},
			{ID: "hw-disk", Title: message.T("Disk"), Status: check.Warn, Text: message.T("Disk: 120 GB.")},
			{ID: "net-dns-1", Title: message.T("DNS server"), Status: check.Fail, Text: dns},
			{ID: "net-dns-2", Title: message.T("DNS server"), Status: check.Fail, Text: dns},
		},
	}
	want := "  WARN  Disk [hw-disk]: 120 GB.\n  STOP  Processors [hw-cpu]: 2.\n  STOP  Base domain is missing\n" +
		strings.Repeat("  STOP  DNS server [net-dns-2] [net-dns-1]: no answer.\n", 2)
	var out bytes.Buffer
	if renderReview(&out, r); out.String() != want {
		t.Errorf("review:\n%swant:\n%s", out.String(), want)
	}
	cmd := newRoot(hooks{})
	cmd.SetOut(&out)
	err := (&applying{flags: &applyFlags{}, cmd: cmd}).printReview(r)
	if err == nil || !strings.Contains(err.Error(), "not started:\n  Processors [hw-cpu]: 2.\n  Base domain is missing\n") {
		t.Errorf("the error: %v", err)
	}
}
