package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/message"
	"touchdown/steps/site"
)

// TestDeadBatteryAndSiteCertificate: the battery of the machine's clock is dead, and the site brings certificates. The landing sets the clock
// by a server that the site's network leads to, so that no date keeps it from starting. A clock that can be right still does.
func TestDeadBatteryAndSiteCertificate(t *testing.T) {
	for _, c := range []struct {
		what  string
		ahead time.Duration
		typed time.Duration // of the time that a person types; 0: none
		node  bool          // something of the machine tells that its clock is wrong
		want  string
	}{
		{"dead battery", -10000 * time.Hour, 0, true, ""},
		{"dead battery, time typed", -10000 * time.Hour, 10 * time.Minute, true, ""},
		{"dead battery, time typed after the end", -10000 * time.Hour, 2000 * time.Hour, true, "has expired"},
		{"a clock that can be right", -10000 * time.Hour, 0, false, "is not valid before"},
	} {
		w := &world{}
		r := newRig(t, w)
		ca, _ := authority(t)
		if c.node {
			r.host.File("/var/lib/kubelet/pki/kubelet-client-current.pem", string(ca)) // made an hour ago
		}
		r.ahead.Store(int64(c.ahead))
		token := take(t, r)
		r.fill(t, r, token)
		values := map[string]string{"spec.clusterName": "shop", "spec.baseDomain": "example.com", "spec.additionalTrustBundle": string(ca)}
		if c.typed != 0 {
			values["spec.time.utc"] = time.Now().Add(c.typed).UTC().Format(time.RFC3339)
		}
		must(t, r.Load(t.Context(), token, values, "file site.yaml"))
		found := reviewed(t, r, token).Review.Problems
		dated := slices.ContainsFunc(found, func(p message.Text) bool {
			return strings.Contains(p.String(), "is not valid before") || strings.Contains(p.String(), "has expired")
		})
		if dated != (c.want != "") || c.want != "" && !slices.ContainsFunc(found, func(p message.Text) bool { return strings.Contains(p.String(), c.want) }) {
			t.Errorf("%s: %q", c.what, found)
		}
	}
}

// TestWhatAnEarlierEngineLeftIsTold: before anyone can type; of what a person types then nothing is told.
func TestWhatAnEarlierEngineLeftIsTold(t *testing.T) {
	r := newRig(t, &world{})
	token := take(t, r)
	must(t, r.Load(t.Context(), token, map[string]string{"spec.time.utc": "2026-06-01T12:00:00Z"}, "file site.yaml"))
	must(t, r.Close())
	var found []string
	o := r.options()
	o.Found = func(cfg *site.Config) { found = append(found, cfg.Spec.Time.UTC) }
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	r.Engine = e
	must(t, r.Load(t.Context(), take(t, r), map[string]string{"spec.time.utc": "2026-06-02T12:00:00Z"}, "file site.yaml"))
	if !slices.Equal(found, []string{"2026-06-01T12:00:00Z"}) {
		t.Errorf("told %q", found)
	}
}
