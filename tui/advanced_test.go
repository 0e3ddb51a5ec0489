package tui

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// opened is a console on the page of advanced settings, with the site's whole list.
func opened(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, 80, 24, realSite)
	b.press("c", "c", "shift+tab", "d")
	b.shows("Advanced settings     ")
	return b
}

// in brings the focus of a form to a field.
func (b *bench) in(path string) {
	b.t.Helper()
	f, ok := b.app.page.(*form)
	if !ok {
		b.t.Fatalf("no form:\n%s", b.screen())
	}
	f.focus(path)
}

// TestAdvancedIsClosed: the way through the pages goes past the advanced settings, from both sides, until they are opened; then
// they are a page like the others, and what was typed there stays.
func TestAdvancedIsClosed(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	b.press("c", "c", "tab", "'example.com", "shift+tab", "shift+tab", "c")
	b.shows("Stage 4 of 7: Relocation")
	b.press("shift+tab", "b")
	b.shows("Stage 3 of 7: Names and credentials")
	b.shows("Advanced settings: none set")
	b.press("d", "'store-1", "shift+tab", "b")
	b.shows("Stage 3 of 7: Names and credentials")
	b.shows("Advanced settings: 1 set")
	b.press("d")
	b.shows("[store-1 ")
	b.press("c")
	b.shows("Stage 4 of 7: Relocation")
	b.press("shift+tab", "b")
	b.shows("Stage 3 of 7: Names and credentials")
}

// TestAdvancedIsJudged: "Back" closes the page of advanced settings for good, so that it tells of a wrong value as "Continue" does, and of
// answers that do not fit together once. The button that opens the page tells of what is wrong on it.
func TestAdvancedIsJudged(t *testing.T) {
	b := opened(t)
	b.press("'store_1", "shift+tab", "b")
	b.shows("> Label of the site")
	b.shows("Fix this first: Label of the site.")
	b.press("ctrl+u", "'store-1", "shift+tab", "b")
	b.shows("Advanced settings: 1 set")
	b.fake.change(func(s *view.Snapshot) {
		for i, v := range at(s, "advanced").Fields {
			if v.Path == "spec.proxy.noProxy" {
				at(s, "advanced").Fields[i].Value, at(s, "advanced").Fields[i].Together = "example.com", message.T("is given, but there is no proxy")
			}
		}
	})
	b.refresh()
	b.shows("Advanced settings: 1 to fix")
	b.press("shift+tab", "d", "shift+tab", "b")
	b.shows("Fix this first: Bypass the proxy for.")
	b.in("")
	b.press("b")
	b.shows("Stage 3 of 7: Names and credentials")
}

// TestIndentedLines: what stands before a line, and an empty line between two, are part of YAML that is typed or pasted.
func TestIndentedLines(t *testing.T) {
	const want = "spec.networkConfig=interfaces:\n  - name: eno1\n\n    state: up\n"
	typed := opened(t)
	typed.in("spec.networkConfig")
	typed.press("'interfaces:", "enter", "'  - name: eno1", "enter", "enter")
	typed.shows("[2 lines ")
	typed.press("'    state: up", "tab")
	pasted := opened(t)
	pasted.in("spec.networkConfig")
	pasted.paste("interfaces:\r\n  - name: eno1\r\n\r\n    state: up\r\n.\r\n")
	for _, b := range []*bench{typed, pasted} {
		if last := b.fake.sets[len(b.fake.sets)-1]; last != want {
			t.Errorf("set %q, want %q", last, want)
		}
	}
	typed.shows("[4 lines ")
}

// TestEmptied: Ctrl-U empties a field that shows nothing to edit, directly after a paste too. The next paste begins empty.
func TestEmptied(t *testing.T) {
	const first, second = "ssh-ed25519 AAAA one\n", "ssh-ed25519 AAAA two\n"
	b := opened(t)
	last := func(want string) {
		t.Helper()
		if last := b.fake.sets[len(b.fake.sets)-1]; last != want {
			t.Errorf("set %q, want %q", last, want)
		}
	}
	b.in("spec.sshKeys")
	b.paste(first + ".\r\n")
	last("spec.sshKeys=" + first)
	b.press("ctrl+u")
	last("spec.sshKeys=")
	b.paste(second + ".\r\n")
	last("spec.sshKeys=" + second)
	b.press("tab", "shift+tab", "ctrl+u")
	last("spec.sshKeys=")
	b.fake.change(func(s *view.Snapshot) {
		for i := range s.Stages {
			for j := range s.Stages[i].Steps {
				for k := range s.Stages[i].Steps[j].Fields {
					if v := &s.Stages[i].Steps[j].Fields[k]; v.Path == "spec.proxy.httpProxy" {
						v.SecretSet = true
					}
				}
			}
		}
	})
	b.refresh()
	b.in("spec.proxy.httpProxy")
	b.shows("Ctrl-U empty")
	b.press("'x", "ctrl+u")
	last("spec.sshKeys=") // only what was typed is gone
	b.press("ctrl+u", "tab")
	last("spec.proxy.httpProxy=")
	b.in("spec.additionalTrustBundle")
	b.paste("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n.\r\n")
	b.press("ctrl+u")
	last("spec.additionalTrustBundle=")
}

// TestRefusedPathStays: the path of a file that is not taken stays in its field to be corrected, and its message holds the page. Ctrl-U takes
// both away and leaves the value that the field had; a paste takes the place of the path.
func TestRefusedPathStays(t *testing.T) {
	b := opened(t)
	b.in("spec.additionalTrustBundle")
	b.paste("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n.\r\n")
	sent := len(b.fake.sets)
	file := filepath.Join(t.TempDir(), "ca.pem")
	typed := strings.TrimSuffix(file, "m")
	b.press("tab", "shift+tab", "'"+typed, "enter")
	b.shows("! " + typed)
	b.shows("ca.pe ")
	b.press("tab")
	b.shows("[" + cut(typed, 27) + "]")
	b.press("shift+tab", "ctrl+u")
	if screen := b.screen(); strings.Contains(screen, "/ca.pe") || !strings.Contains(screen, "set, not shown") || len(b.fake.sets) != sent {
		t.Errorf("Ctrl-U sent %q, and there is\n%s", b.fake.sets[sent:], screen)
	}
	b.press("'"+typed, "tab", "shift+tab")
	if err := os.WriteFile(file, []byte("from the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.press("'m", "enter")
	if last := b.fake.sets[len(b.fake.sets)-1]; last != "spec.additionalTrustBundle=from the file" || strings.Contains(b.screen(), file) {
		t.Errorf("set %q:\n%s", last, b.screen())
	}
	b.press("'/mnt/missing.pem", "enter")
	b.paste("-----BEGIN X-----\nAA==\n-----END X-----\n.\r\n")
	if last := b.fake.sets[len(b.fake.sets)-1]; last != "spec.additionalTrustBundle=-----BEGIN X-----\nAA==\n-----END X-----\n" {
		t.Errorf("set %q", last)
	}
}

// TestSecretEmptied: Ctrl-U takes a secret away that is set.
func TestSecretEmptied(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	b.press("c", "c")
	b.in("spec.pullSecret")
	b.press("'{}", "tab", "shift+tab")
	b.shows("Ctrl-U empty")
	b.press("ctrl+u")
	if last := b.fake.sets[len(b.fake.sets)-1]; last != "spec.pullSecret=" {
		t.Errorf("set %q", last)
	}
	if b.shows("Pull secret"); strings.Contains(b.screen(), "set, not shown") {
		t.Errorf("still set:\n%s", b.screen())
	}
}

// refuseAt has a review that refuses the answer at a path of a page.
func refuseAt(page, path string) func(*view.Snapshot) {
	return func(s *view.Snapshot) {
		s.State, s.Review = view.Reviewed, reviewView()
		s.Review.Problems, s.Review.Page = []message.Text{message.T("Proxy for https: the port is missing.")}, page
		for _, stage := range s.Stages {
			for _, step := range stage.Steps {
				for i, v := range step.Fields {
					if v.Path == path {
						step.Fields[i].Value, step.Fields[i].Source, step.Fields[i].Changed = "wrong", "typed", true
						step.Fields[i].Together = message.T("does not fit")
					}
				}
			}
		}
	}
}

// TestReviewLeadsToTheMistake: from a review that nothing may start, the way back leads to the page of the first problem, a closed
// one too, and on it to the answer that is wrong, with the reason.
func TestReviewLeadsToTheMistake(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	b.press("c")
	b.fake.change(refuseAt("advanced", "spec.proxy.httpsProxy"))
	b.refresh()
	b.shows("Go to: Advanced settings")
	b.press("b")
	b.shows("> Proxy for https")
	b.shows("! does not fit")
	b.in("")
	b.press("b")
	b.shows("Fix this first: Proxy for https.")
	b.in("")
	b.press("b")
	b.shows("Stage 3 of 7: Names and credentials")
}

// TestProblemLeadsToTheAnswers: "Edit answers" leads to the page that the step's answers are from, and into its fields though it is complete.
func TestProblemLeadsToTheAnswers(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	b.press("c", "c", "'store1", "tab", "'example.com", "tab")
	b.fake.change(func(s *view.Snapshot) {
		failed(s)
		for i := range s.Stages {
			for j := range s.Stages[i].Steps {
				if s.Stages[i].Steps[j].ID == s.Current {
					s.Stages[i].Steps[j].Asks = "site"
				}
			}
		}
	})
	b.refresh()
	b.press("e", "enter")
	b.shows("Stage 3 of 7: Names and credentials")
	b.shows("> Cluster name")
}

// TestPlainLeadsToTheMistake: in line mode the way back leads to the question whose answer is wrong, and from there to those before it.
func TestPlainLeadsToTheMistake(t *testing.T) {
	f, p := holding(t, refuseAt("site", "spec.baseDomain"))
	p.after(t, "to change an answer, type back", "back")
	f.did(t, session.Edit)
	if before := p.printed(t, "Base domain [wrong]:"); strings.Contains(before, "Cluster name [") {
		t.Errorf("it asks for more:\n%s", before)
	}
	p.after(t, "", "back")
	p.printed(t, "Cluster name [sno-042]:")
}

// TestPlainAdvanced: in line mode the advanced settings are asked for on demand, by a number at the review, and alone.
func TestPlainAdvanced(t *testing.T) {
	f := newFake()
	short, whole := collectingSnapshot(), collectingSnapshot()
	realSite(&whole)
	for _, stage := range whole.Stages {
		if stage.Advanced {
			short.Stages = slices.Insert(short.Stages, 2, stage)
		}
	}
	var labels []string // before the fake, which writes into the fields, is asked for anything
	for _, v := range fields(short.Stages[2])[4:] {
		labels = append(labels, show(v.Label))
	}
	f.snap = short
	p, done := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	for _, prompt := range []string{"Cluster name [sno-042]:", "Base domain []:", "Pull secret []:", "API certificate []:", "Network port [eno1]:", "IPv4 method [dhcp]:"} {
		answer := ""
		if prompt == "Base domain []:" {
			answer = "example.com"
		}
		p.after(t, prompt, answer)
	}
	p.printed(t, "1  Advanced settings: none set")
	p.after(t, "To start, type", "1")
	p.after(t, "Label of the site []:", "store-1")
	p.after(t, "Allow another node name [false]:", "")
	p.after(t, "DNS search domains []:", "")
	p.printed(t, "a line with only a dot ends them")
	p.after(t, "Network as nmstate YAML []:", "?")
	p.after(t, "Network as nmstate YAML []:", "interfaces:")
	p.after(t, "", "  - name: eno1")
	p.after(t, "", "")
	p.after(t, "", "    state: up")
	p.after(t, "", ".")
	for _, label := range labels {
		p.after(t, label+" [", "")
	}
	p.printed(t, "1  Advanced settings: 2 set")
	p.after(t, "To start, type", "sno-042")
	f.did(t, session.Start)
	p.in.Close()
	if err := <-done; !errors.Is(err, ErrHungUp) {
		t.Errorf("ended with %v", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.sets, "metadata.name=store-1") || !slices.ContainsFunc(f.sets, func(s string) bool {
		return s == "spec.networkConfig=interfaces:\n  - name: eno1\n\n    state: up\n"
	}) {
		t.Errorf("set %q", f.sets)
	}
}

// TestNoPartOfASecretIsSent: a field that can hold a password sends no beginning of one, even while a mistake is shown there.
func TestNoPartOfASecretIsSent(t *testing.T) {
	b := opened(t)
	b.in("spec.proxy.httpProxy")
	b.press("'http://proxy_a", "tab", "shift+tab")
	b.shows("the underscore")
	sent := len(b.fake.sets)
	b.press("backspace", "backspace", "':hunter2")
	b.paste("x")
	if got := b.fake.sets[sent:]; len(got) > 0 {
		t.Errorf("sent %q", got)
	}
	b.press("tab")
	if got := b.fake.sets[sent:]; !slices.Equal(got, []string{"spec.proxy.httpProxy=http://proxy:hunter2x"}) {
		t.Errorf("sent %q", got)
	}
}

// TestPlainCalledByANumber: where a node is called 1, that starts the work, and the advanced settings have another number.
func TestPlainCalledByANumber(t *testing.T) {
	f := newFake()
	whole := f.snap
	realSite(&whole)
	for _, stage := range whole.Stages {
		if stage.Advanced {
			f.snap.Stages = slices.Insert(f.snap.Stages, 2, stage)
		}
	}
	f.snap.Hostname, f.snap.State, f.snap.Review = "1.factory.example", view.Reviewed, reviewView()
	p, _ := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	p.printed(t, "2  Advanced settings")
	p.after(t, "To start, type", "2")
	p.printed(t, "Label of the site []:")
	f.did(t, session.Edit)
	p.in.Close()
	f = newFake()
	f.snap.Hostname, f.snap.State, f.snap.Review = "1.factory.example", view.Reviewed, reviewView()
	p, _ = startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	p.after(t, "To start, type", "1")
	f.did(t, session.Start)
	p.in.Close()
}

// TestLabelsAreTyped: the labels of the node are typed in one line or in several.
func TestLabelsAreTyped(t *testing.T) {
	for _, keys := range [][]string{{"'zone=berlin, rack=7", "tab"}, {"'zone=berlin", "enter", "'rack=7", "tab"}} {
		b := opened(t)
		b.in("spec.nodeLabels")
		b.shows("name=value, one a line or with commas")
		b.press(keys...)
		last := b.fake.sets[len(b.fake.sets)-1]
		cfg := site.New()
		path, value, _ := strings.Cut(last, "=")
		if err := cfg.Set(path, value); err != nil || cfg.Spec.NodeLabels["zone"] != "berlin" || cfg.Spec.NodeLabels["rack"] != "7" {
			t.Errorf("set %q: %v, %v", last, cfg.Spec.NodeLabels, err)
		}
	}
}

// TestTabInLines: a tab inside pasted lines belongs to them; the rest does not go to the next field.
func TestTabInLines(t *testing.T) {
	b := opened(t)
	b.in("spec.networkConfig")
	b.paste("interfaces: # all\tof them\r\n\t- name: eno1\r\n.\r\n")
	if want := []string{"spec.networkConfig=interfaces: # all\tof them\n\t- name: eno1\n"}; !slices.Equal(b.fake.sets, want) {
		t.Errorf("set %q, want %q", b.fake.sets, want)
	}
	b.paste("\t")
	b.paste("ssh-ed25519 AAAA one\r\n.\r\n")
	if last := b.fake.sets[len(b.fake.sets)-1]; last != "spec.sshKeys=ssh-ed25519 AAAA one\n" {
		t.Errorf("set %q", last)
	}
}
