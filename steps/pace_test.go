package steps_test

import (
	"math"
	"testing"
	"time"

	"touchdown/backend/report"
	"touchdown/steps"
)

// TestFactoryPace: a landing's time left begins with how long the factory's reboots took on this node.
func TestFactoryPace(t *testing.T) {
	for name, c := range map[string]struct {
		seconds map[string]float64
		want    float64
	}{
		"no report":    {nil, 1},
		"as planned":   {map[string]float64{"bake-configuration": 690, "rehearse": 1200, "health": 4000}, 1},
		"a slow one":   {map[string]float64{"bake-configuration": 1380, "rehearse": 2400}, 2},
		"a stuck one":  {map[string]float64{"rehearse": 1e6}, 4},
		"nothing done": {map[string]float64{"bake-configuration": 3}, 1},
	} {
		dir := t.TempDir()
		if c.seconds != nil {
			job := report.Job{Kind: report.Factory}
			for id, s := range c.seconds {
				job.Steps = append(job.Steps, report.JobStep{Step: report.Step{ID: id, Title: id, Outcome: "done", Seconds: s}})
			}
			if err := (report.Folder{Dir: dir}).Save(report.New(job, report.Facts{}, time.Now())); err != nil {
				t.Fatal(err)
			}
		}
		if got := (&steps.FactoryReport{Dir: dir}).Pace(); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: pace %.2f, want %.2f", name, got, c.want)
		}
	}
}
