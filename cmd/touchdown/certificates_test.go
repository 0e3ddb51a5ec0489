package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/problem"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestCertificatesReplaceNeedsPairs: what is wrong with the command line is told before an engine is asked.
func TestCertificatesReplaceNeedsPairs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pem")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"":                          "give --api-cert and --api-key",
		"--ingress-ca " + file:      "give --api-cert and --api-key",
		"--api-cert " + file:        "--api-cert and --api-key go together",
		"--ingress-key " + file:     "--ingress-cert and --ingress-key go together",
		"--api-cert none --api-key": "flag needs an argument",
	} {
		var out bytes.Buffer
		root := newRoot(hooks{})
		root.SetOut(&out)
		root.SetErr(&out)
		if code := execute(t.Context(), root, append([]string{"certificates", "replace"}, strings.Fields(args)...)); code != exitUsage || !strings.Contains(out.String(), says) {
			t.Errorf("%q: exit %d, %q", args, code, out.String())
		}
	}
}

// untouched is an engine of a node in some age of its life, which must not be asked for anything.
type untouched struct {
	session.Session
	life string
}

func (u untouched) Snapshot(context.Context) (*view.Snapshot, error) {
	return &view.Snapshot{Life: u.life, Cluster: "shop.example.org", State: view.IsDone, Locked: true}, nil
}

// landed is an engine of a node that was handed over, whose answers were edited since or not.
type landed struct {
	*endsBadly
	edited bool
}

func (l landed) Snapshot(ctx context.Context) (*view.Snapshot, error) {
	s, err := l.endsBadly.Snapshot(ctx)
	s.Life, s.Cluster, s.Edited = view.LifeLanded, "shop.example.org", l.edited
	return s, err
}

// TestCertificatesAloneMoveNothing: where the answers that the engine has are another site's, of work that was undone or of a person who has
// edited them, the command does nothing at all, in whichever state and however often it is given.
func TestCertificatesAloneMoveNothing(t *testing.T) {
	dir, cert := t.TempDir(), ownCert(t, time.Now().AddDate(1, 0, 0), "api.shop.example.org")
	line := []string{"certificates", "replace", "--api-cert", filepath.Join(dir, "cert"), "--api-key", filepath.Join(dir, "key")}
	if err := errors.Join(os.WriteFile(line[3], []byte(cert.cert), 0o600), os.WriteFile(line[5], []byte(cert.key), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, edited := range []bool{true, false} {
		for _, state := range []view.State{view.IsUndone, view.Collecting, view.Reviewed} {
			e := &endsBadly{now: state, ends: view.HasFailed}
			_, said := served(t, landed{e, edited}, &bytes.Buffer{}, line...)
			if refused := strings.Contains(said, "CRT-STAY"); refused != edited || refused && len(e.did) > 0 || !refused && !slices.Contains(e.did, session.Start) {
				t.Errorf("edited %t, %s: did %q, told %q", edited, state, e.did, said)
			}
		}
	}
}

// TestCertificatesAreJudgedFirst: on a node that has not landed, and with a certificate that does not fit, nothing is done.
func TestCertificatesAreJudgedFirst(t *testing.T) {
	fits := ownCert(t, time.Now().AddDate(1, 0, 0), "api.shop.example.org")
	for name, c := range map[string]struct {
		cert own
		says string
	}{
		"fits":        {fits, ""},
		"other names": {ownCert(t, time.Now().AddDate(1, 0, 0), "api.other.example.org"), "api.shop.example.org"},
		"expired":     {ownCert(t, time.Now().AddDate(0, 0, -1), "api.shop.example.org"), "expired"},
		"other key":   {own{fits.cert, ownCert(t, time.Now().AddDate(1, 0, 0), "x").key}, "key"},
		"no PEM":      {own{"x", fits.key}, "PEM"},
	} {
		err := fitting("shop.example.org", map[string]string{"spec.apiCert.cert": c.cert.cert, "spec.apiCert.key": c.cert.key})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), strings.Split(fits.key, "\n")[1]) {
			t.Errorf("%s: the key shows", name)
		}
	}
	a := &applying{flags: &applyFlags{node: "sno"}, session: untouched{life: "armed"}, answers: answers{may: func(s *view.Snapshot) error { return mayReplace(s, nil) }}}
	if _, _, err := a.review(t.Context()); problem.From(err).Code != "CRT-LAND" {
		t.Errorf("%v", err)
	}
}
