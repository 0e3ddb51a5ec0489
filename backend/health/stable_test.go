package health

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// script answers each look by the time that has passed, in the bubble's clock.
func script(verdict func(passed time.Duration) check.Status) func(context.Context) []check.Check {
	began := time.Now()
	return func(context.Context) []check.Check {
		passed := time.Since(began)
		time.Sleep(time.Second) // a look takes time
		return []check.Check{
			{ID: "api", Title: message.T("Cluster answers"), Status: check.Pass},
			{ID: "operators", Title: message.T("Platform services"), Status: verdict(passed), Observed: message.T("etcd is degraded"), Fix: message.T("Wait.")},
		}
	}
}

func TestWindowStartsAgainAfterEachBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var most time.Duration
		var events int
		_, err := await(t.Context(), script(func(passed time.Duration) check.Status {
			if passed < 60*time.Second || passed > 100*time.Second && passed < 110*time.Second {
				return check.Fail
			}
			return check.Pass
		}), Options{}, Window{For: 2 * time.Minute}, func(check.Check) { events++ }, func(well time.Duration, waiting message.Text) {
			most = max(most, well)
			if text := waiting.String(); well == 0 && text != "" && text != "Platform services: etcd is degraded" {
				t.Errorf("waits for %q", waiting)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 230*time.Second || took > 245*time.Second {
			t.Errorf("took %s, want two minutes after the last break at 110 s", took)
		}
		if most != 2*time.Minute {
			t.Errorf("told %s at most, want the whole window", most)
		}
		// api once; operators bad, good, bad, good; both at the end.
		if events != 7 {
			t.Errorf("%d checks emitted, want 7: only changes and the last look", events)
		}
	})
}

func TestDeadlineNamesTheCulprit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := await(t.Context(), script(func(time.Duration) check.Status { return check.Fail }),
			Options{}, Window{For: time.Minute, Limit: 10 * time.Minute}, func(check.Check) {}, func(time.Duration, message.Text) {})
		p := problem.From(err)
		if p.Code != "CLU-HLTH" || !strings.Contains(p.Summary.String(), "Platform services: etcd is degraded") || p.Fix.String() != "Wait." {
			t.Errorf("the problem is %+v", p)
		}
	})
}

func TestDeadlineOfARestlessCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		restless := script(func(passed time.Duration) check.Status {
			return map[bool]check.Status{true: check.Pass, false: check.Fail}[int(passed.Seconds())%60 < 40]
		})
		_, err := await(t.Context(), restless, Options{}, Window{For: time.Minute, Limit: 10 * time.Minute}, func(check.Check) {}, func(time.Duration, message.Text) {})
		if p := problem.From(err); p.Code != "CLU-HLTH" {
			t.Errorf("the problem is %+v", p)
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := await(ctx, script(func(time.Duration) check.Status { return check.Fail }), Options{}, Window{For: time.Minute},
			func(check.Check) {}, func(time.Duration, message.Text) {})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err is %v", err)
		}
	})
}

func TestWaivedChecksDoNotHoldTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Waived: func(id string) bool { return id == "operators" }}
		if _, err := await(t.Context(), script(func(time.Duration) check.Status { return check.Fail }), o, Window{For: 30 * time.Second},
			func(check.Check) {}, func(time.Duration, message.Text) {}); err != nil {
			t.Error(err)
		}
	})
}

func TestNoWindowIsOneLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		_, err := await(t.Context(), func(context.Context) []check.Check { looks++; return nil }, Options{}, Window{}, func(check.Check) {}, func(time.Duration, message.Text) {})
		if err != nil || looks != 1 {
			t.Errorf("%d looks (%v), want 1", looks, err)
		}
	})
}

// TestWhatIsInTheWayIsTranslated: the wait keeps its parts, so that a console can show each in its language.
func TestWhatIsInTheWayIsTranslated(t *testing.T) {
	german, err := message.NewLanguage("de", map[string]string{"%s: %s (and %d more)": "%s: %s (und %d weitere)", "Cluster answers": "Cluster antwortet", "no": "nein"})
	if err != nil {
		t.Fatal(err)
	}
	bad := []check.Check{{Title: message.T("Cluster answers"), Observed: message.T("no")}, {ID: "x"}, {ID: "y"}}
	if got := german.Show(inTheWay(bad)); got != "Cluster antwortet: nein (und 2 weitere)" {
		t.Errorf("shown is %q", got)
	}
}
