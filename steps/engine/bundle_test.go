package engine

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"touchdown/backend/layout"
	"touchdown/backend/support"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/transcript"
)

// TestTheBundleHasTheNodesOwnWords: what its services say is in it, by way of a console's socket too, without the secrets that were
// typed and those of others; what cannot be had is named.
func TestTheBundleHasTheNodesOwnWords(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		must(t, s.Set(t.Context(), take(t, s), "spec.proxy.httpProxy", "http://user:typed-password@proxy.example.com:3128"))
		r.host.On("journalctl", "kubelet says typed-password and Bearer pl4ntedToken\n", nil)
		r.host.On("nmcli device show", "", errors.New("NetworkManager is not running"))
		r.host.File(layout.Returned+"/2026-11-26-9/"+layout.JournalFile, "an earlier return\n")
		r.host.File(layout.Returned+"/2026-11-26-10/"+layout.JournalFile, "why it came back: password=pl4ntedToken\n")
		bundle, err := s.Export(t.Context(), session.Bundle)
		must(t, err)
		text := unpacked(t, bundle)
		for _, want := range []string{"touchdown-bundle/node/kubelet.txt", "touchdown-bundle/node/system-journal.txt", "kubelet says <secret> and Bearer <secret>", "nmcli-devices.txt: ", "touchdown-bundle/node/missing.txt", "touchdown-bundle/returned/2026-11-26-10/journal.jsonl", "why it came back"} {
			if !strings.Contains(text, want) {
				t.Errorf("the bundle lacks %q", want)
			}
		}
		for _, secret := range []string{"typed-password", "pl4ntedToken", "an earlier return"} {
			if strings.Contains(text, secret) {
				t.Errorf("the bundle has %s", secret)
			}
		}
	})
}

// TestWhatConsolesShowedIsInTheBundle: with the console's name, after a restart of the engine too, and without the secrets that were typed.
func TestWhatConsolesShowedIsInTheBundle(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		must(t, s.Set(t.Context(), take(t, s), "spec.proxy.httpProxy", "http://user:typed-password@proxy.example.com:3128"))
		must(t, s.Shown(idle.At(t.Context(), "ttyS0"), "page form\n  | proxy typed-password\nkey Enter password=pl4ntedToken\n"))
		bundle, err := s.Export(t.Context(), session.Bundle)
		must(t, err)
		text := unpacked(t, bundle)
		if !strings.Contains(text, "touchdown-bundle/consoles.txt") || !strings.Contains(text, " ttyS0\npage form\n  | proxy <secret>\nkey Enter password=<secret>\n") {
			t.Error("the bundle lacks what the console showed")
		}
		for _, secret := range []string{"typed-password", "pl4ntedToken"} {
			if kept := string(transcript.Files(r.dir)); strings.Contains(kept, secret) || strings.Contains(text, secret) {
				t.Errorf("%s was kept:\n%s", secret, kept)
			}
		}
		must(t, r.Engine.Close())
		archive, err := support.WithoutEngine(t.Context(), support.Asking{Host: r.host.Machine, Mask: func(text string) string { return text }}, r.dir, r.o.Node.Now())
		must(t, err)
		if !strings.Contains(unpacked(t, archive), " ttyS0\npage form\n") {
			t.Error("a bundle without an engine lacks it")
		}
	})
}

// TestHalfASecretIsNotShown: a secret across the end of what is kept at once is masked, too.
func TestHalfASecretIsNotShown(t *testing.T) {
	r := newRig(t, newWorld())
	must(t, r.Set(t.Context(), take(t, r), "spec.proxy.httpProxy", "http://user:typed-password@proxy.example.com:3128"))
	must(t, r.Shown(t.Context(), strings.Repeat("x\n", transcript.MostRecord/2-3)+"typed-password"))
	if kept := string(transcript.Files(r.dir)); !strings.Contains(kept, "x\n<secr") || strings.Contains(kept, "typed") {
		t.Errorf("%.200q", kept[max(0, len(kept)-200):])
	}
}

// TestASummaryFitsASerialLine: however much there is to say, and although it does not compress.
func TestASummaryFitsASerialLine(t *testing.T) {
	r := newRig(t, newWorld())
	noise := func(argv []string, _ []byte) (string, error) { // another one for each part
		out := make([]byte, 20<<10)
		_, err := rand.NewChaCha8(sha256.Sum256([]byte(strings.Join(argv, " ")))).Read(out)
		return string(out) + "\nthe end of a log\n", err
	}
	r.host.OnFunc("journalctl", noise)
	r.host.OnFunc("nmcli", noise)
	archive, err := r.Export(t.Context(), session.Document(support.Summary))
	must(t, err)
	text, err := support.Serial(archive, "")
	must(t, err)
	if len(text) > support.MaxSerial || len(text) < support.MaxSerial/4 {
		t.Errorf("%d bytes of text", len(text))
	}
	back, err := support.Unserial(text)
	must(t, err)
	plain := unpacked(t, back)
	for _, want := range []string{"the end of a log", "touchdown-bundle/snapshot.json", "touchdown-bundle/journal.jsonl", "touchdown-bundle/node/kubelet.txt"} {
		if !strings.Contains(plain, want) {
			t.Errorf("the summary lacks %q", want)
		}
	}
}

// TestASecondTryIsTheSame: for as long as a person tries again over a noisy line. One bundle is made at a time.
func TestASecondTryIsTheSame(t *testing.T) {
	r := newRig(t, newWorld())
	summary := session.Document(support.Summary)
	first, err := r.Export(t.Context(), summary)
	must(t, err)
	r.ahead.Add(int64(summaryLife) / 2)
	second, err := r.Export(t.Context(), summary)
	must(t, err)
	r.ahead.Add(int64(summaryLife))
	third, err := r.Export(t.Context(), summary)
	must(t, err)
	if !bytes.Equal(first, second) || bytes.Equal(first, third) {
		t.Errorf("the second is the same: %t, the one after a while: %t", bytes.Equal(first, second), bytes.Equal(first, third))
	}
	r.packing.Lock()
	defer r.packing.Unlock()
	if _, err := r.Export(t.Context(), session.Bundle); !errors.Is(err, session.ErrState) {
		t.Errorf("two at once: %v", err)
	}
}
