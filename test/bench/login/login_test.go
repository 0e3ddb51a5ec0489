// Package login holds the new password of kubeadmin against the code by which OpenShift's login judges it: library-go's
// bootstrapauthenticator, of the version in verdict/go.mod. `make bench-login` builds it.
package login

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/login"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// verdict is what OpenShift's code says about one password.
type verdict struct {
	Enabled, Accepted bool
	UID, Error        string
}

// judge asks OpenShift's code about passwords, on the cluster of the kubeconfig.
func judge(t *testing.T, kubeconfig string, passwords ...string) []verdict {
	t.Helper()
	program, err := filepath.Abs("../../../.cache/bench/bin/verdict")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		wait.Unable(t, "%v: run make bench-login", err)
	}
	var complaint bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, kubeconfig)
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(passwords, "\n")+"\n"), &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint.String())
	}
	var all []verdict
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var v verdict
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if len(all) != len(passwords) {
		t.Fatalf("%d verdicts on %d passwords", len(all), len(passwords))
	}
	return all
}

// open returns a new cluster in which kubeadmin has the factory's password, as the installer makes both within one hour.
func open(t *testing.T, password string) (*bench.Cluster, *kube.Cluster) {
	t.Helper()
	b := bench.Start(t, bench.Options{Fresh: true})
	c, err := kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: wait.Timeout(time.Minute), Pause: 50 * time.Millisecond, Poll: 50 * time.Millisecond}
	hash, err := login.Hash(password)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutSecret(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: login.User},
		Data:       map[string][]byte{login.User: []byte(hash)}, Type: corev1.SecretTypeOpaque,
	}, func(kube.Ref, []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return b, c
}

// TestOpenShiftTakesTheNewPassword: OpenShift's own code accepts the new password and refuses the factory's, whose tokens end, too;
// undo turns that round. A secret that is made again lets nobody in.
func TestOpenShiftTakesTheNewPassword(t *testing.T) {
	wait.Slow(t)
	const old = "aaaaa-bbbbb-ccccc-ddddd"
	b, c := open(t, old)
	next := login.NewPassword()
	before := judge(t, b.Kubeconfig, old, next)
	if !before[0].Accepted || before[1].Accepted {
		t.Fatalf("before: %+v", before)
	}
	hash, err := login.Hash(next)
	if err != nil {
		t.Fatal(err)
	}
	var original []byte
	err = login.Replace(t.Context(), c, hash, func(_ kube.Ref, saved []byte) error {
		original = saved
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	after := judge(t, b.Kubeconfig, old, next, next[:22])
	if after[0].Accepted || after[0].Error != "" || !after[1].Accepted || after[1].UID == before[0].UID {
		t.Errorf("after: %+v", after)
	}
	if after[2].Accepted || !strings.Contains(after[2].Error, "at least 23 characters") {
		t.Errorf("a password of 22 characters: %+v", after[2])
	}
	if k, err := login.Look(t.Context(), c); err != nil || k.Gone.String() != "" || !k.Accepts(next) || k.Accepts(old) {
		t.Errorf("Touchdown sees %+v, %v", k, err)
	}
	if _, err := c.Restore(t.Context(), original); err != nil {
		t.Fatal(err)
	}
	if undone := judge(t, b.Kubeconfig, old, next); !undone[0].Accepted || undone[1].Accepted {
		t.Errorf("after undo: %+v", undone)
	}
}

// TestOpenShiftAndTouchdownAgreeOnKubeadmin: where OpenShift lets kubeadmin not in, Touchdown says that it is gone.
func TestOpenShiftAndTouchdownAgreeOnKubeadmin(t *testing.T) {
	wait.Slow(t)
	const old = "aaaaa-bbbbb-ccccc-ddddd"
	b, c := open(t, old)
	ref := kube.Secret("kube-system", login.User)
	agree := func(what string, gone bool) {
		t.Helper()
		theirs := judge(t, b.Kubeconfig, old)[0]
		ours, err := login.Look(t.Context(), c)
		if err != nil || theirs.Accepted == gone || (ours.Gone.String() != "") != gone {
			t.Errorf("%s: OpenShift says %+v, Touchdown %+v, %v", what, theirs, ours, err)
		}
	}
	nothing := func(kube.Ref, []byte) error { return nil }
	agree("the installer's secret", false)
	if _, err := c.ChangePart(t.Context(), ref, "data", func(data map[string]any) error {
		data[login.User] = "bm8gaGFzaA==" // "no hash"
		return nil
	}, nothing); err != nil {
		t.Fatal(err)
	}
	agree("no hash", true)
	if _, err := c.Delete(t.Context(), ref, nothing); err != nil {
		t.Fatal(err)
	}
	agree("no secret", true)
}
