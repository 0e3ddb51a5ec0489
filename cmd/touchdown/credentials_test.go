package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"touchdown/backend/message"
	"touchdown/steps/handout"
	"touchdown/steps/session"
	"touchdown/steps/wire"
)

// counter is an engine of a landed node that gives a login, and counts who holds control.
type counter struct {
	hostile
	logIn handout.LogIn
	asked []handout.Ask
	held  int
}

func (c *counter) TakeControl(context.Context, string, bool) (string, error) {
	c.held++
	return "token", nil
}
func (c *counter) ReleaseControl(context.Context, string) error { c.held--; return nil }

func (c *counter) Give(_ context.Context, _ string, ask handout.Ask) (*handout.LogIn, error) {
	c.asked = append(c.asked, ask)
	got := c.logIn
	if !ask.Password {
		got.Password = ""
	}
	if !ask.Kubeconfig {
		got.Kubeconfig = ""
	}
	return &got, nil
}

// served runs a command against an engine and returns its exit code and what it printed beside its result.
func served(t *testing.T, engine session.Session, out io.Writer, args ...string) (int, string) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- wire.Serve(ctx, engine, socket) }()
	defer func() { stop(); <-ended }()
	listens(t, socket)
	var complaints bytes.Buffer
	root := newRoot(hooks{})
	root.SetOut(out)
	root.SetErr(&complaints)
	return execute(t.Context(), root, append(args, "--socket", socket)), complaints.String()
}

// TestCredentials: a login goes to a terminal or into a file that root alone may read, and nowhere else.
func TestCredentials(t *testing.T) {
	c := &counter{logIn: handout.LogIn{
		Console: "https://console.example.com", API: "https://api.example.com:6443", User: "kubeadmin", Password: "h7kqm-2xw9n-pd4rt-vz8cj",
		Kubeconfig: "kind: Config\n", Until: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC), Server: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
	}}
	for _, line := range [][]string{{"credentials"}, {"credentials", "-o", "json"}} {
		var pipe bytes.Buffer
		if code, _ := served(t, c, &pipe, line...); code != exitUsage || strings.Contains(pipe.String(), c.logIn.Password) || len(c.asked) > 0 {
			t.Errorf("%q into a pipe: exit code %d, asked %d times, printed %q", line, code, len(c.asked), pipe.String())
		}
	}
	terminal := func(line ...string) string {
		t.Helper()
		screen, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer screen.Close()
		code, complaints := served(t, c, tty, line...)
		tty.Close()
		text, _ := io.ReadAll(screen) // EIO ends it: nobody has the terminal open any more
		if code != 0 {
			t.Errorf("%q: exit code %d, %s", line, code, complaints)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	if text := terminal("credentials"); !strings.Contains(text, "Password     h7kqm-2xw9n-pd4rt-vz8cj\n") || strings.Contains(text, "Config") {
		t.Errorf("the terminal shows\n%s", text)
	}
	var shown handout.LogIn
	if err := json.Unmarshal([]byte(terminal("credentials", "-o", "json")), &shown); err != nil || shown != c.logIn {
		t.Errorf("as JSON the terminal shows another login: %v", err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	var out bytes.Buffer
	code, says := served(t, c, &out, "credentials", "--out", file)
	info, err := os.Stat(file)
	if err != nil || code != 0 || info.Mode() != 0o600 || out.Len() > 0 {
		t.Fatalf("exit code %d, %v, %v, printed %q", code, info, err, out.String())
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != c.logIn.Kubeconfig {
		t.Errorf("the file has %q, %v", data, err)
	}
	if want := file + " opens https://api.example.com:6443 until 2027-01-02.\nThe API's own certificate ends before that, on 2026-12-01.\n"; says != want {
		t.Errorf("it says %q, want %q", says, want)
	}
	file += ".json"
	if _, says = served(t, c, &out, "credentials", "--out", file, "-o", "json"); strings.Contains(says+out.String(), c.logIn.Password) {
		t.Error("the password is printed beside the file")
	}
	shown = handout.LogIn{}
	if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &shown) != nil || shown != c.logIn {
		t.Errorf("the file has another login: %v", err)
	}
	c.logIn.Why, c.logIn.Password = message.Data("The cluster's owner has removed kubeadmin."), ""
	if text := terminal("credentials"); !strings.Contains(text, "Password     none: The cluster's owner has removed kubeadmin.\n") {
		t.Errorf("without a password the terminal shows\n%s", text)
	}
	if c.held != 0 {
		t.Errorf("control is held %d times", c.held)
	}
}

// TestALedgerIsUsableAtOnce: a ledger whose volume is not there, and a file that is none, end the command before anything is begun.
func TestALedgerIsUsableAtOnce(t *testing.T) {
	other := filepath.Join(t.TempDir(), "pull-secret")
	if err := os.WriteFile(other, []byte(`{"auths":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{other, other + ".gone/ledger.jsonl"} {
		dir := t.TempDir()
		root := newRoot(hooks{root: dir})
		var said bytes.Buffer
		root.SetErr(&said)
		if code := execute(t.Context(), root, []string{"factory", "--unattended", "--ledger", file}); code == exitOK || !strings.Contains(said.String(), "FAC-LEDG") {
			t.Errorf("%s: %d\n%s", file, code, said.String())
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s left %v, %v", file, left, err)
		}
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != `{"auths":{}}` {
		t.Errorf("it was changed: %q, %v", text, err)
	}
}

// TestFactoryFlags: what cannot be meant is refused before anything is begun.
func TestFactoryFlags(t *testing.T) {
	for _, line := range [][]string{
		{"--shared-identity", "a spare"},
		{"--ledger", "ledger.jsonl"},
		{"--ledger", "/x", "--shared-identity", " "},
		{"--ledger", "/x", "--shared-identity", "two\nlines"},
		{"--ledger", "/x", "--shared-identity", strings.Repeat("x", maxReason+1)},
		{"--media-key", "/nowhere"},
		{"--media-key", "/proc/self/comm"},
		{"--site", "/nowhere"},
		{"--site", "/proc/self/comm"},
		{"bake", "--media-key", "/nowhere"},
		{"bake", "--media-key", "/x", "--out", "/y"},
	} {
		dir := t.TempDir()
		root := newRoot(hooks{root: dir})
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if code := execute(t.Context(), root, append([]string{"factory"}, line...)); code != exitUsage {
			t.Errorf("%q: exit code %d", line, code)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%q left %v, %v", line, left, err)
		}
	}
}
