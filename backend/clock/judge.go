package clock

import (
	"slices"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/value"
)

// Limits of what is done without asking.
const (
	// fine is an offset that chrony removes automatically without a jump (its own makestep limit on OpenShift's nodes is 1 s).
	fine = time.Second
	// agree is how far time servers may be apart and still count as telling the same time. The worst servers of the public pool
	// are within 100 ms; a second leaves room for a slow line.
	agree = time.Second
	// maxBack is the largest jump back that needs no answer; the one ahead is value.MaxForward. What was written in the time that comes again, such as leases and
	// certificates, is from the future afterwards; Kubernetes allows five minutes of skew in what it signs.
	maxBack = 5 * time.Minute
)

// Offset is what one source says: how far the machine's clock is behind it.
type Offset struct {
	Source string
	Ahead  time.Duration // of the source, before the machine's clock
	Err    error         // it gave no usable answer
}

// Bounds are times between which the present must lie, after what was signed for this machine.
type Bounds struct {
	NotBefore, NotAfter time.Time    // zero: not known
	After, Until        message.Text // where they come from
}

// Allows says why the present cannot be t; "" when it can.
func (b Bounds) Allows(t time.Time) message.Text {
	switch {
	case !b.NotBefore.IsZero() && t.Before(b.NotBefore):
		return message.F("%s is before %s, when %s", stamp(t), stamp(b.NotBefore), b.After)
	case !b.NotAfter.IsZero() && t.After(b.NotAfter):
		return message.F("%s is after %s, when %s", stamp(t), stamp(b.NotAfter), b.Until)
	}
	return message.Text{}
}

// Verdict is what to do about the clock.
type Verdict struct {
	Ahead  time.Duration  // by how much to move the clock; 0: leave it
	Ask    message.Text   // a person has to agree; why
	From   message.Text   // who tells the time: "2 of 3 time servers"
	Typed  bool           // a person does
	Strays []message.Text // sources that tell another time than most
	Wrong  message.Text   // why the machine's own time cannot be right; "" when it can
	Reject message.Text   // why the sources' time is not believed; "" when it is
}

// Judge decides by the majority of the sources that answered. A time outside the bounds is not believed, whoever tells it.
func Judge(offsets []Offset, now time.Time, bounds Bounds) Verdict {
	v := Verdict{Wrong: bounds.Allows(now)}
	good := slices.DeleteFunc(slices.Clone(offsets), func(o Offset) bool { return o.Err != nil })
	if len(good) == 0 {
		return v
	}
	group := majority(good)
	if 2*len(group) <= len(good) {
		v.Reject = message.F("the %d time servers contradict each other", len(good))
		return v
	}
	for _, o := range good {
		if !slices.Contains(group, o) {
			v.Strays = append(v.Strays, message.F("%s tells %s", o.Source, describe(o.Ahead-median(group))))
		}
	}
	v.From = message.F("%d of %d time servers", len(group), len(good))
	if len(good) == 1 {
		v.From = message.F("the time server %s", good[0].Source)
	}
	return v.move(median(group), now, bounds)
}

// Typed decides on a time that a person gave. It is asked about like that of a server: a wrong year, local time and a site config of last week
// read like a right one, and where the machine's own time can be right, too, one of the two is wrong.
func Typed(ahead time.Duration, now time.Time, bounds Bounds) Verdict {
	v := Verdict{Wrong: bounds.Allows(now), From: message.T("the time that was typed"), Typed: true}
	return v.move(ahead, now, bounds)
}

func (v Verdict) move(ahead time.Duration, now time.Time, bounds Bounds) Verdict {
	if ahead.Abs() < fine {
		return v
	}
	if why := bounds.Allows(now.Add(ahead)); why != (message.Text{}) {
		v.Reject = why
		return v
	}
	v.Ahead = ahead
	// A clock that is surely wrong is set to a time that can be right, however far that is.
	if v.Wrong == (message.Text{}) && (ahead > value.MaxForward || ahead < -maxBack) {
		v.Ask = message.F("%s says that the clock is wrong by %s", v.From, describe(ahead))
	}
	return v
}

// majority returns the largest group of sources that agree, each with each.
func majority(offsets []Offset) []Offset {
	sorted := slices.Clone(offsets)
	slices.SortFunc(sorted, func(a, b Offset) int { return int(max(-1, min(1, a.Ahead-b.Ahead))) })
	var best []Offset
	for i := range sorted {
		end := i
		for end < len(sorted) && sorted[end].Ahead-sorted[i].Ahead <= agree {
			end++
		}
		if end-i > len(best) {
			best = sorted[i:end]
		}
	}
	return best
}

func median(sorted []Offset) time.Duration { return sorted[len(sorted)/2].Ahead }

// describe tells an offset in the unit that fits it: "+3 days 0 h", "-2.1 s".
func describe(d time.Duration) message.Text {
	sign := "+"
	if d < 0 {
		sign = "-"
	}
	switch abs := d.Abs(); {
	case abs < time.Minute:
		return message.F("%s%.3f s", sign, abs.Seconds())
	case abs < 2*time.Hour:
		return message.F("%s%d min", sign, int(abs.Minutes()))
	case abs < 48*time.Hour:
		return message.F("%s%d h", sign, int(abs.Hours()))
	default:
		return message.F("%s%d days", sign, int(abs.Hours()/24))
	}
}

// Describe tells an offset in plain words.
func Describe(d time.Duration) message.Text { return describe(d) }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
