package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// begins starts the job and does not wait for its end. The client stays on as a watcher.
func (n *node) begins(site string) *exec.Cmd {
	n.t.Helper()
	cmd := n.command(site, "--force")
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, or done
	})
	return cmd
}

// fails waits for a failure, and checks that it is not a dead end: it says what it was, what to do, and how to go on.
func (n *node) fails(step string, says ...string) {
	n.t.Helper()
	s := n.ends()
	n.is(view.HasFailed, s)
	p := s.Problem
	if p == nil || p.Summary.String() == "" || p.Fix.String() == "" || p.Code == "" || len(p.Code) > 8 {
		n.t.Fatalf("the problem tells too little: %+v", p)
	}
	n.t.Logf("%s failed with %s: %s Try: %s", s.Current, p.Code, p.Summary, p.Fix)
	if s.Current != step {
		n.t.Errorf("%s failed, not %s", s.Current, step)
	}
	for _, want := range says {
		if !strings.Contains(p.Code+" "+p.Summary.String()+" "+p.Detail.String(), want) {
			n.t.Errorf("the problem does not say %q: %+v", want, p)
		}
	}
}

// TestARoughDay has an API that is slow, refuses writes in bursts and goes away, a client that is killed, and others
// that come along. The job goes on to its end through all of it.
func TestARoughDay(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.holds("started domain")
	n.start(0)
	n.lives()
	n.fault(bench.Fault{Kind: bench.Slow, Millis: 500, Times: 20})
	n.fault(bench.Fault{Kind: bench.Conflict, Times: 5})
	n.fault(bench.Fault{Kind: bench.Throttled, Millis: 1000, Times: 4})
	watching := n.begins(shop)
	release := n.held()
	if err := n.cluster.KillAPI(time.Minute); err != nil {
		t.Fatal(err)
	}
	away := time.Now()
	release()
	n.wait("the work", landing)

	if err := watching.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := exec.Command("touchdown", "engine", "--socket", n.socket(), "--state", n.state(), "--kubeconfig", n.cluster.Kubeconfig, "--no-power")
	if code, out := finished(t, second); code != exitFailed || !strings.Contains(out, "ENG-BUSY") {
		t.Errorf("a second engine ended with %d: %s", code, out)
	}
	n.penPasses()
	if info, err := os.Stat(n.socket()); err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
	if s := n.lives(); s.State != view.Working {
		t.Errorf("after the client's end the job is %s", s.State)
	}
	n.is(view.IsDone, n.ends())
	if took := time.Since(away); took < time.Minute {
		t.Errorf("the job ended after %s without its API", took)
	}
}

// penPasses has two clients: one writes at a time.
func (n *node) penPasses() {
	n.t.Helper()
	ctx, one, two := n.t.Context(), n.client(), n.client()
	first, err := one.TakeControl(ctx, "one", true)
	if err != nil {
		n.t.Fatal(err)
	}
	if _, err := two.TakeControl(ctx, "two", false); !errors.Is(err, session.ErrControlHeld) || !strings.Contains(err.Error(), "one") {
		n.t.Errorf("control was given away: %v", err)
	}
	if code, out := finished(n.t, n.command(shop)); code != exitFailed || !strings.Contains(out, "--force") {
		n.t.Errorf("a client without control ended with %d: %s", code, out)
	}
	if _, err := two.TakeControl(ctx, "two", true); err != nil {
		n.t.Error(err)
	}
	if err := one.Do(ctx, first, session.Action{Verb: session.Cancel}); !errors.Is(err, session.ErrNoControl) {
		n.t.Errorf("a console that lost control still writes: %v", err)
	}
}

// TestAFailureIsNeverADeadEnd is rule 8: whatever goes wrong, the problem names it, and a retry goes on once it is fixed.
// Crashes are in TestCrashAtEventBoundaries, boot loops in the engine's TestRebootLoopEnds.
func TestAFailureIsNeverADeadEnd(t *testing.T) {
	t.Parallel()
	t.Run("operators", func(t *testing.T) {
		t.Parallel()
		n := newNode(t)
		n.env = []string{stepLimit + "=30s"}
		n.start(0)
		n.lives()
		n.fault(bench.Fault{Kind: bench.Forbidden, Verb: "create", Resource: "secrets"})
		if code, out := n.apply(shop); code != exitFailed || !strings.Contains(out, "CLU-DENY") {
			t.Errorf("apply ended with %d:\n%s", code, out)
		}
		n.fails("certificates", "CLU-DENY", "create secrets")
		n.repair()
		n.fault(bench.Fault{Kind: bench.Stuck, Operator: "kube-apiserver"})
		n.act(retry)
		n.fails("rollouts", "REV-LATE")
		n.repair()
		n.fault(bench.Fault{Kind: bench.Degraded, Operator: "authentication"})
		n.act(retry)
		n.fails("rollouts", "CLU-DEGR", "authentication")
		n.repair()
		n.act(retry)
		n.is(view.IsDone, n.ends())
		if met := n.lives().Met; len(met) != 3 {
			t.Errorf("the report is told %q", met)
		}
	})
	t.Run("a full disk", func(t *testing.T) {
		t.Parallel()
		n := newNode(t)
		disk := n.smallDisk()
		n.holds("done health")
		n.start(0)
		n.lives()
		n.begins(shop)
		release := n.held()
		ballast := filepath.Join(disk, "ballast")
		fill(t, ballast, disk, 2)
		release()
		n.fails("hand-over", "FULL")
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		n.act(retry)
		n.held()()
		n.is(view.IsDone, n.ends())
		if code, out := n.touchdown("report", "show"); code != exitOK || !strings.Contains(out, "api.shop.example.org") {
			t.Errorf("no report after the disk was freed: %s", out)
		}
	})
}

// smallDisk puts the state folder on a disk of 1 MiB.
func (n *node) smallDisk() string {
	n.t.Helper()
	if err := os.Mkdir(n.state(), 0o700); err != nil {
		n.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", n.state(), "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		wait.Unable(n.t, "a small disk cannot be mounted here: %v", err)
	}
	n.t.Cleanup(func() { _ = syscall.Unmount(n.state(), syscall.MNT_DETACH) })
	return n.state()
}

// fill leaves that many blocks of a disk free: the journal goes on for a while, the report does not fit.
func fill(t *testing.T, file, disk string, blocks int) {
	t.Helper()
	var stat syscall.Statfs_t
	if err := syscall.Statfs(disk, &stat); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, make([]byte, (int(stat.Bavail)-blocks)*int(stat.Bsize)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNoSecretIsReferencedBeforeItWasReadBack is rule 5: a certificate that someone spoils behind our back reaches no
// server. What else can be wrong with one is in the domain's TestBadSecrets.
func TestNoSecretIsReferencedBeforeItWasReadBack(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.holds("done certificates")
	n.start(0)
	n.lives()
	before := n.specs()
	n.begins(shop)
	release := n.held()
	secret := ""
	for _, s := range n.api.items(fmt.Sprintf(secrets, "openshift-config")) {
		if strings.Contains(name(s), "touchdown-api") {
			secret = fmt.Sprintf(secrets, "openshift-config") + "/" + fmt.Sprint(at(s, "metadata", "name"))
		}
	}
	other := ownCert(t, time.Now().AddDate(1, 0, 0), "api.other.example.org")
	n.api.merge(secret, object{"data": object{"tls.crt": b64(other.cert), "tls.key": b64(other.key)}})
	release()
	n.fails("domain", "CERT-BCK", "touchdown-api")
	after := n.specs()
	for _, path := range []string{apiServer, ingress, router} {
		if after[path] != before[path] {
			t.Errorf("%s was changed: %s", path, after[path])
		}
	}
	n.act(retry)
	n.held()()
	n.is(view.IsDone, n.ends())
	if err := n.trusted("api.shop.example.org", "6443"); err != nil {
		t.Error(err)
	}
}

// TestNothingChangesBeforeTheReview is rule 1: looking, answering and planning change nothing; a start that does not name
// the review that was shown is refused. That originals are saved first is what every undo of these tests rests on.
func TestNothingChangesBeforeTheReview(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	before := n.specs()
	n.start(0)
	n.lives()
	ctx, c := t.Context(), n.client()
	token, err := c.TakeControl(ctx, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	for path, value := range map[string]string{"spec.clusterName": "shop", "spec.baseDomain": "example.org"} {
		if err := c.Set(ctx, token, path, value); err != nil {
			t.Fatal(err)
		}
	}
	start := session.Action{Verb: session.Start, Fingerprint: "0123"}
	if err := c.Do(ctx, token, start); !errors.Is(err, session.ErrState) {
		t.Errorf("a start without a review: %v", err)
	}
	for _, verb := range []session.Verb{session.Inspect, session.Review} {
		if err := c.Do(ctx, token, session.Action{Verb: verb}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Do(ctx, token, start); !errors.Is(err, session.ErrInvalid) {
		t.Errorf("a start with another review's fingerprint: %v", err)
	}
	for _, verb := range []session.Verb{session.Retry, session.Undo, session.Skip, session.HandOver} {
		if err := c.Do(ctx, token, session.Action{Verb: verb}); !errors.Is(err, session.ErrState) {
			t.Errorf("%s before the start: %v", verb, err)
		}
	}
	if err := c.ReleaseControl(ctx, token); err != nil {
		t.Error(err)
	}
	warned := strings.Replace(shop, "keepGoingOnWarnings: true", "keepGoingOnWarnings: false", 1)
	if code, out := n.apply(warned); code != exitFailed || !strings.Contains(out, "keepGoingOnWarnings") {
		t.Errorf("a start in spite of warnings that nobody judges ended with %d:\n%s", code, out)
	}
	same(t, before, n.specs())
	if n.writes() != 0 {
		t.Errorf("%d changes before the review was accepted", n.writes())
	}
	if saved, err := os.ReadDir(filepath.Join(n.state(), "saved")); err != nil || len(saved) != 0 {
		t.Errorf("originals of changes that nobody made: %v, %v", saved, err)
	}
	if _, err := os.Stat(filepath.Join(n.state(), "report.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a report of nothing: %v", err)
	}
	t.Run("and a start that fails with nobody there is taken back", func(t *testing.T) {
		for _, verb := range []string{"patch", "update"} {
			n.fault(bench.Fault{Kind: bench.Forbidden, Verb: verb, Resource: "apiservers"})
		}
		code, out := n.apply(strings.Replace(shop, "rollbackOnFailure: false", "rollbackOnFailure: true", 1))
		if code != exitFailed || !strings.Contains(out, "apiservers") {
			t.Errorf("apply ended with %d:\n%s", code, out)
		}
		n.is(view.IsUndone, n.lives())
		if n.writes() < 4 {
			t.Errorf("only %d changes: nothing was begun", n.writes())
		}
		same(t, before, n.specs())
	})
}

// TestALandedNode holds three rules on one cluster.
func TestALandedNode(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	theirs := object{"names": []any{"api.partner.example"}, "servingCertificate": object{"name": "partner"}}
	gate := object{"namespace": "plant", "name": "gate", "hostname": "gate.partner.example", "servingCertKeyPairSecret": object{"name": "partner"}}
	partner := ownCert(t, time.Now().AddDate(1, 0, 0), "api.partner.example", "gate.partner.example")
	n.api.do("POST", fmt.Sprintf(secrets, "openshift-config"), "application/json", []byte(text(object{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": object{"name": "partner"},
		"data": object{"tls.crt": b64(partner.cert), "tls.key": b64(partner.key)},
	})))
	n.api.merge(apiServer, object{"spec": object{"servingCerts": object{"namedCertificates": []any{theirs}}}})
	n.api.merge(ingress, object{"spec": object{"componentRoutes": []any{gate}}})
	n.start(0)
	n.lives()
	n.lands(shop)

	// Rule 4. Each list alone, and their undo, are in the domain's TestApplyMergesAndRestores.
	t.Run("the configuration of others stays", func(t *testing.T) {
		has := func(list any, one object) bool {
			items, _ := list.([]any)
			return slices.ContainsFunc(items, func(i any) bool { return text(i) == text(one) })
		}
		certs := at(n.api.get(apiServer), "spec", "servingCerts", "namedCertificates")
		if !has(certs, theirs) || !strings.Contains(text(certs), "api.shop.example.org") || strings.Contains(text(certs), "api-int") {
			t.Errorf("namedCertificates are %s", text(certs))
		}
		if components := at(n.api.get(ingress), "spec", "componentRoutes"); !has(components, gate) || !strings.Contains(text(components), "shop") {
			t.Errorf("componentRoutes are %s", text(components))
		}
		if leaf, err := n.cluster.Leaf(t.Context(), "6443", "api.partner.example"); err != nil || leaf.Issuer.CommonName != "site CA" {
			t.Errorf("the partner's name is not served: %v", err)
		}
		for _, r := range n.api.items(routes) {
			if host := at(r, "spec", "host"); name(r) == "plant/portal" && host != "portal.plant.example" {
				t.Errorf("a user's route was moved to %v", host)
			}
		}
	})
	// Rule 6. Sixty hostile ones are in the csr package's TestDecideHostile.
	t.Run("only expected requests are approved", func(t *testing.T) {
		want := map[string]string{"csr-8wq2t": "Approved", "csr-d5x7k": "Approved", "csr-foreign": ""}
		for _, r := range n.api.items(requests) {
			if should, known := want[name(r)]; !known || decision(r) != should {
				t.Errorf("request %s is %q", name(r), decision(r))
			}
		}
	})
	// Rule 9. What the engine does for it is in its TestHandOverEndsUndoAndLocks.
	t.Run("nothing changes without unlocking", func(t *testing.T) { n.locked(t) })
}

func (n *node) locked(t *testing.T) {
	n.act(session.Action{Verb: session.HandOver})
	writes, specs := n.writes(), n.specs()
	if code, out := n.apply(strings.ReplaceAll(shop, "shop", "other")); code != exitFailed || !strings.Contains(out, "locked") {
		t.Errorf("apply on a locked node ended with %d: %s", code, out)
	}
	for _, a := range []session.Action{undo, {Verb: session.Edit}, {Verb: session.HandOver}} {
		if err := n.try(a); !errors.Is(err, session.ErrLocked) {
			t.Errorf("%s on a locked node: %v", a.Verb, err)
		}
	}
	if n.writes() != writes {
		t.Error("a locked node was changed")
	}
	same(t, specs, n.specs())
	for _, folder := range []string{"saved", "secrets"} {
		if left := n.files(folder); len(left) > 0 {
			t.Errorf("%s after the hand-over: %v", folder, left)
		}
	}
	if err := n.try(session.Action{Verb: session.Unlock, Value: "someone"}); !errors.Is(err, session.ErrInvalid) {
		t.Errorf("unlocked by a wrong name: %v", err)
	}
	n.act(session.Action{Verb: session.Unlock, Value: n.lives().Hostname}, session.Action{Verb: session.Edit})
}

// files lists what lies below a folder of the state.
func (n *node) files(folder string) []string {
	n.t.Helper()
	var out bytes.Buffer
	find := exec.Command("find", filepath.Join(n.state(), folder), "-type", "f")
	find.Stdout = &out
	if err := find.Run(); err != nil {
		n.t.Error(err)
	}
	return strings.Fields(out.String())
}
