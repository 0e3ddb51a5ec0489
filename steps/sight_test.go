package steps

import (
	"context"
	"slices"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/probe"
)

// TestSightTellsAgain: the network is not asked more often than it can stand, but each look is told what is known of it: what
// a look does not tell is cleared.
func TestSightTellsAgain(t *testing.T) {
	asked := 0
	s := &Sight{ask: func(_ context.Context, target probe.Target, tell func(Check)) (probe.Result, error) {
		asked++
		result := probe.Result{Checks: []Check{{ID: "net-gateway", Status: check.Pass}}}
		for _, server := range target.NTP {
			result.Checks = append(result.Checks, Check{ID: "net-ntp-" + server, Status: check.Fail})
		}
		for _, c := range result.Checks {
			tell(c)
		}
		return result, nil
	}}
	look := func(at time.Duration, ntp ...string) (ids []string) {
		t.Helper()
		target := probe.Target{NTP: ntp}
		err := s.probe(t.Context(), time.Unix(0, 0).Add(at), target, "", func(c Check) { ids = append(ids, c.ID) })
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	for _, want := range []struct {
		at    time.Duration
		ntp   []string
		ids   []string
		asked int
	}{
		{0, []string{"1", "2"}, []string{"net-gateway", "net-ntp-1", "net-ntp-2"}, 1},
		{badStands / 2, []string{"1", "2"}, []string{"net-gateway", "net-ntp-1", "net-ntp-2"}, 1},
		{badStands / 2, []string{"1"}, []string{"net-gateway", "net-ntp-1"}, 2},
		{3 * badStands, nil, []string{"net-gateway"}, 3},
		{3*badStands + goodStands/2, nil, []string{"net-gateway"}, 3},
	} {
		if got := look(want.at, want.ntp...); !slices.Equal(got, want.ids) || asked != want.asked {
			t.Errorf("after %s, time servers %q: told %q, asked %d times", want.at, want.ntp, got, asked)
		}
	}
}
