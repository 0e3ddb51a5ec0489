package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/person"
	"touchdown/test/wait"
)

// EndsWith closes the machine when a test ends, and before that explains it where the test has failed.
func (m *Machine) EndsWith(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("ending the bench node: %v", err)
		}
	})
	wait.Explain(t, "the bench node", m.Diagnosis)
}

// askedFor bounds what a diagnosis asks of a node that may answer nothing any more.
const askedFor = 20 * time.Second

// Says is a script's output for wait.Explain: what one test wants to see of its node besides Diagnosis.
func (m *Machine) Says(script string) func() string {
	return func() string {
		ctx, cancel := context.WithTimeout(context.Background(), askedFor)
		defer cancel()
		out, err := m.Shell(ctx, script)
		if err != nil {
			out += err.Error()
		}
		return strings.TrimSpace(out)
	}
}

// longest is the most of a line that a diagnosis has, in bytes.
const longest = 300

// The files of Touchdown that tell what it did last.
const (
	journalFile = "/var/lib/touchdown/journal.jsonl"
	engineLog   = "/var/lib/touchdown/engine.log"
)

// always are lines that each boot of a bench node has by the dozen.
const always = "(restore|containers under) sandbox|Failed to read pids.max|overlay-opaque.*Deactivated"

// unwell tells what systemd has not done, and what was logged last.
const unwell = `echo "systemd is $(timeout 5 systemctl is-system-running)"
timeout 5 systemctl list-units --all --plain --no-legend --no-pager --state=failed,activating,deactivating,reloading | cut -c1-160
echo "-- jobs"; timeout 5 systemctl list-jobs --plain --no-legend --no-pager | head -20
echo "-- journal"; timeout 5 journalctl --boot --no-pager --lines=300 --output=short-monotonic | grep -vE '` + always + `' | tail -n 40 | cut -c1-240
echo "-- touchdown-engine"; timeout 5 journalctl --boot --no-pager --lines=8 --output=cat --unit=touchdown-engine | cut -c1-240
tail -n 12 ` + engineLog + ` 2>/dev/null | cut -c1-300`

// Diagnosis is what there is to see of a machine in a test that has failed: its units, jobs and journal, the last events and
// log lines of Touchdown's engine, and the screens that nobody reads.
func (m *Machine) Diagnosis() string {
	var out strings.Builder
	m.mu.Lock()
	on, boots, since := m.leader != 0, m.boots, time.Since(m.booted)
	m.mu.Unlock()
	if on {
		fmt.Fprintf(&out, "on for %.0f s, boot %d\n%s\n", since.Seconds(), boots, m.Says(unwell)())
	} else {
		fmt.Fprintf(&out, "off, after %d boots; nspawn: %s\n%s\n", boots, strings.ReplaceAll(m.complaint(), "\x1b", ""), tail(m.offlineText(engineLog), 12))
	}
	fmt.Fprintf(&out, "-- events\n%s\n", m.events(on))
	for _, name := range m.Consoles {
		if unread := m.lines[name].unread(); len(unread) > 0 {
			fmt.Fprintf(&out, "-- console %s, which nobody reads\n%s\n", name, person.Shown(unread))
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

// events are the last ones of the engine's journal, one a line.
func (m *Machine) events(on bool) string {
	text := ""
	if on {
		text = m.Says("tail -n 20 " + journalFile + " 2>/dev/null")()
	} else {
		text = strings.Join(last(m.offlineText(journalFile), 20), "\n")
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, told(line))
	}
	if len(lines) == 0 {
		return "none"
	}
	return strings.Join(lines, "\n")
}

// told is an event of the journal in short: what it is about, and all that it says.
func told(line string) string {
	type said struct{ ID, Code, Status, Observed, Summary, Detail, Text string }
	var e struct {
		Seq                      uint64
		Time                     time.Time
		Kind, Step, Text, By     string
		Check, Question, Problem said
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Kind == "" {
		return strings.TrimSpace(line)
	}
	words := []string{fmt.Sprint(e.Seq), e.Time.Format("15:04:05.000"), e.Kind, e.Step, e.Text, e.By}
	for _, s := range []said{e.Check, e.Question, e.Problem} {
		words = append(words, s.ID, s.Code, s.Status, s.Observed, s.Summary, s.Detail, s.Text)
	}
	short := strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
	return strings.ToValidUTF8(short[:min(len(short), longest)], "?")
}

// offlineText is a file of a machine that is off; empty where it is not there.
func (m *Machine) offlineText(name string) string {
	if m.world == nil {
		return ""
	}
	data, err := os.ReadFile(m.offline(name))
	if err != nil {
		return ""
	}
	return string(data)
}

// tail is the last lines of a text, the long ones cut off.
func tail(text string, lines int) string {
	all := last(text, lines)
	for i, line := range all {
		all[i] = line[:min(len(line), longest)]
	}
	return strings.Join(all, "\n")
}

func last(text string, lines int) []string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return all[max(0, len(all)-lines):]
}
