package operators

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

// question is something that both clusters are asked. Verdicts are what the product says, or what a technician would see: there
// the stand-ins have to be like the operators. Of numbers, near is how far they may be apart.
type question struct {
	verdict bool
	near    float64
	why     string // they may differ nevertheless
}

// questions are all of them.
var questions = map[string]question{
	qMove:        {verdict: true},
	qServed:      {verdict: true},
	qRestarts:    {verdict: true},
	qRevisions:   {why: "what comes while a revision is copied makes the next one, which overtakes it before it is installed: a race of seconds"},
	qNoticed:     {near: 30},
	qRolledOut:   {near: 120, why: "the real operator looks at its inputs in rounds and waits half a minute between revisions"},
	qAPIAway:     {near: 30},
	qRouterAway:  {near: 30},
	qIngressGone: {verdict: true},
	qCanary:      {verdict: true},
	qChain:       {verdict: true},
	qConsole:     {verdict: true},
	qHost:        {verdict: true},
	qByHand:      {verdict: true},
	qUndo:        {verdict: true},
	qUndone:      {verdict: true},
	qUndoStarts:  {verdict: true},
	qDuplicate:   {verdict: true},
	qRefused:     {verdict: true},
	qRefusedKeep: {verdict: true},
	qTooMany:     {verdict: true},
	qMissing:     {verdict: true},
	qSaysTooMany: {verdict: true},
	qSaysMissing: {verdict: true},
	qTaken:       {verdict: true},
	qUnmanaged:   {verdict: true},
	qSharded:     {verdict: true},
	qProxied:     {verdict: true},
	qOwners:      {verdict: true},
	qKept:        {verdict: true},
}

// compare returns the lines in which the clusters differ.
func compare(t *testing.T, real, standIn map[string]string) []difference {
	t.Helper()
	var all []difference
	for what, q := range questions {
		a, b := real[what], standIn[what]
		if a == b || q.near > 0 && apart(a, b) <= q.near {
			continue
		}
		all = append(all, difference{what, a, b, q.why, q.verdict})
		if q.verdict || q.why == "" {
			t.Errorf("%s\n  real: %s\n  stand-in: %s", what, a, b)
		}
	}
	slices.SortFunc(all, func(a, b difference) int {
		if a.What < b.What {
			return -1
		}
		return 1
	})
	if len(all) > 5 {
		t.Errorf("%d differences, more than five", len(all))
	}
	return all
}

func apart(a, b string) float64 {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err != nil || err2 != nil {
		return math.Inf(1)
	}
	return math.Abs(x - y)
}
