package health

import (
	"context"
	"fmt"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Window is how long the cluster has to be well without a break. For comparison: oc adm wait-for-stable-cluster wants
// 5 minutes and looks every 10 s; the installer wants 30 s.
type Window struct {
	For   time.Duration // zero: one good look is enough
	Poll  time.Duration // between two looks; zero: 5 s
	Limit time.Duration // after that it is a Problem; zero: 45 min
}

// defaults: a cluster that starts after a power cut needs some 10 minutes, one that takes a new name some 20.
const (
	defaultPoll  = 5 * time.Second
	defaultLimit = 45 * time.Minute
)

// Tell is told after each look how long the cluster has been well, and what is in the way.
type Tell func(well time.Duration, waiting message.Text)

// Await looks again and again until nothing has been in the way for the whole window. Each fault, each list that could
// not be read and each moment without the API starts the window again. It emits a check when its verdict changes, and
// all of the last look. When the limit is over it fails with a Problem that names the worst culprit.
func Await(ctx context.Context, cluster *kube.Cluster, o Options, w Window, emit func(check.Check), tell Tell) ([]check.Check, error) {
	var l Looker
	look := func(ctx context.Context) []check.Check { return l.Look(ctx, cluster, o) }
	return await(ctx, look, o, w, emit, tell)
}

func await(ctx context.Context, look func(context.Context) []check.Check, o Options, w Window, emit func(check.Check), tell Tell) ([]check.Check, error) {
	if w.Poll <= 0 {
		w.Poll = defaultPoll
	}
	if w.Limit <= 0 {
		w.Limit = defaultLimit
	}
	last := map[string]check.Status{}
	began, well := time.Now(), time.Time{}
	for {
		looked := time.Now()
		checks := look(ctx)
		if err := ctx.Err(); err != nil {
			return checks, fmt.Errorf("waiting for a healthy cluster: %w", context.Cause(ctx))
		}
		bad := Bad(checks, o)
		switch {
		case len(bad) > 0:
			well = time.Time{}
		case well.IsZero():
			well = looked
		}
		steady := !well.IsZero() && looked.Sub(well) >= w.For
		for _, c := range checks {
			if last[c.ID] != c.Status || steady {
				last[c.ID] = c.Status
				emit(c)
			}
		}
		if steady {
			tell(w.For, message.Text{})
			return checks, nil
		}
		tell(lasted(well, looked), inTheWay(bad))
		if time.Since(began) >= w.Limit {
			return checks, tooLate(bad, w)
		}
		if err := sleep(ctx, w.Poll); err != nil {
			return checks, err
		}
	}
}

func lasted(well, now time.Time) time.Duration {
	if well.IsZero() {
		return 0
	}
	return now.Sub(well)
}

func inTheWay(bad []check.Check) message.Text {
	switch len(bad) {
	case 0:
		return message.Text{}
	case 1:
		return message.F("%s: %s", bad[0].Title, bad[0].Observed)
	}
	return message.F("%s: %s (and %d more)", bad[0].Title, bad[0].Observed, len(bad)-1)
}

// tooLate names the most basic check that failed: the others are mostly its consequences.
func tooLate(bad []check.Check, w Window) error {
	p := &problem.Problem{
		Code:    "CLU-HLTH",
		Summary: message.F("The cluster was not healthy for %s without a break within %s.", w.For, w.Limit),
		Fix:     message.T("Retry: give the cluster more time."),
	}
	if len(bad) == 0 {
		return p
	}
	p.Summary = message.F("The cluster did not become healthy within %s. %s: %s", w.Limit, bad[0].Title, message.Sentence(bad[0].Observed))
	p.Fix = bad[0].Fix
	var all []string
	for _, c := range bad {
		all = append(all, c.ID+": "+c.Observed.String())
	}
	p.Err = fmt.Errorf("in the way: %s", strings.Join(all, " | "))
	return p
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for a healthy cluster: %w", context.Cause(ctx))
	}
}
