package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/kube"
	"touchdown/backend/login"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// admins is what the cluster accepts administrators' kubeconfigs by.
var admins = kube.ConfigMap("openshift-config", "admin-kubeconfig-client-ca")

func bundle(ctx context.Context, t *testing.T, c *kube.Cluster) string {
	t.Helper()
	object, err := c.Get(ctx, admins)
	if err != nil {
		if ctx.Err() == nil {
			t.Error(err)
		}
		return ""
	}
	text, _ := object["data"].(map[string]any)["ca-bundle.crt"].(string)
	return text
}

// as is a kubeconfig's way into the cluster: to the bench's address, under the API's name.
func as(t *testing.T, b *bench.Cluster, text []byte) kube.Kubeconfig {
	t.Helper()
	k, err := kube.ParseKubeconfig(text)
	if err != nil || k.Name != b.Domain {
		t.Fatalf("the kubeconfig of %q: %v", k.Name, err)
	}
	return k
}

// TestKubeconfigOnARealAPI: kube-apiserver lets the new kubeconfig in as administrator, under the API's name, and no longer after the next
// one or an undo. The signers of others stay, and what the owner adds meanwhile stays, too.
func TestKubeconfigOnARealAPI(t *testing.T) {
	b := bench.Start(t, bench.Options{})
	c, err := kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: wait.Timeout(time.Minute), Pause: 50 * time.Millisecond, Poll: 50 * time.Millisecond}
	before := bundle(t.Context(), t, c)
	var signers []string
	var saved [][]byte
	want := login.Want{Domain: b.Domain, Life: 48 * time.Hour, Now: time.Now(), Note: func(s string) error {
		signers = append(signers, s)
		return nil
	}}
	make := func() (*login.Kubeconfig, kube.Kubeconfig) {
		t.Helper()
		got, err := login.NewKubeconfig(t.Context(), c, want, func(_ kube.Ref, original []byte) error {
			saved = append(saved, original)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got, as(t, b, got.Text)
	}
	first, way := make()
	if left := time.Until(first.Until); left < 47*time.Hour || left > 48*time.Hour || first.Server.Before(time.Now()) {
		t.Errorf("it is good until %v, the server until %v", first.Until, first.Server)
	}
	if way.Server != "https://api."+b.Domain+":6443" {
		t.Errorf("the server is %s", way.Server)
	}
	if now := bundle(t.Context(), t, c); !strings.HasPrefix(now, before) || len(now) == len(before) {
		t.Error("the signers of others are not as they were")
	}
	if b, err := json.Marshal(saved); err != nil || strings.Contains(string(b), "PRIVATE KEY") {
		t.Errorf("a key lies in the saved original, or %v", err)
	}
	second, next := make()
	refused := func(what string, k kube.Kubeconfig) {
		t.Helper()
		err := c.Until(t.Context(), kube.Wait{What: message.Data(what), Limit: 2 * time.Minute}, func(ctx context.Context) (kube.Progress, bool, error) {
			err := k.Try(ctx, c.Address())
			return kube.Progress{}, errors.Is(err, kube.ErrRefused), nil
		})
		if err != nil {
			t.Errorf("%s is still accepted: %v", what, err)
		}
	}
	refused("the first kubeconfig", way)
	if until, server, works, err := login.Works(t.Context(), c, b.Domain, second.Text); err != nil || !works || until.Sub(second.Until).Abs() > time.Second || !server.Equal(second.Server) {
		t.Errorf("the second kubeconfig works: %v, until %v, the server until %v", works, until, server)
	}
	if _, _, works, err := login.Works(t.Context(), c, b.Domain, first.Text); works || err != nil {
		t.Error("the first kubeconfig works")
	}
	// The owner adds a signer of his own, so that undo cannot simply put the old bundle back.
	theirs := strings.TrimSpace(before) + "\n# the owner's\n"
	_, err = c.ChangePart(t.Context(), admins, "data", func(data map[string]any) error {
		data["ca-bundle.crt"] = theirs + strings.TrimPrefix(data["ca-bundle.crt"].(string), before)
		return nil
	}, func(kube.Ref, []byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, original := range slices.Backward(saved) {
		if _, err := c.Restore(t.Context(), original); err != nil {
			t.Fatal(err)
		}
	}
	if err := login.Revoke(t.Context(), c, signers); err != nil {
		t.Fatal(err)
	}
	if now := bundle(t.Context(), t, c); now != theirs {
		t.Errorf("after undo the bundle has %d bytes, want %d", len(now), len(theirs))
	}
	refused("the second kubeconfig", next)
	want.Domain = "elsewhere.example"
	if _, err := login.NewKubeconfig(t.Context(), c, want, nil); problem.From(err).Code != "PWD-CERT" {
		t.Errorf("a name that the API does not serve: %v", err)
	}
}
