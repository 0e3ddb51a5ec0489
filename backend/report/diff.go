package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"touchdown/backend/check"
)

// Change is one difference between two reports.
type Change struct {
	What string `json:"what"`          // "the check hw-memory of hardware (Memory)", "the serial number"
	How  string `json:"how"`           // "worse", "gone", "new", "better" or "changed"
	Old  string `json:"old,omitempty"` // "pass: 64 GiB"
	New  string `json:"new,omitempty"`
}

// How a Change is, in the order in which changes are told.
const (
	worse   = "worse" // a check has a worse verdict
	gone    = "gone"
	added   = "new"
	better  = "better"
	changed = "changed" // a value is another one, which says nothing of good or bad
)

// String says it in one line.
func (c Change) String() string {
	switch c.How {
	case added:
		return fmt.Sprintf("New: %s: %s", c.What, c.New)
	case gone:
		return fmt.Sprintf("Gone: %s: %s", c.What, c.Old)
	}
	return fmt.Sprintf("%s: %s was %s, is now %s", strings.ToUpper(c.How[:1])+c.How[1:], c.What, c.Old, c.New)
}

// Diff tells what changed from one report to another: first what became worse, then other verdicts, then values. When and how long
// is not a difference.
func Diff(from, to *Document) []Change {
	changes := slices.Concat(checkChanges(from, to), valueChanges(from, to), certificateChanges(from, to))
	for _, l := range []struct {
		what     string
		from, to []string
	}{
		{"a name server", from.NameServers, to.NameServers},
		{"a DNS record", each(from.DNS, recordLine), each(to.DNS, recordLine)},
		{"a warning", from.Warnings, to.Warnings},
		{"a problem", from.Problems, to.Problems},
	} {
		changes = append(changes, missing(l.from, l.to, func(text string) Change { return Change{What: l.what, How: gone, Old: text} })...)
		changes = append(changes, missing(l.to, l.from, func(text string) Change { return Change{What: l.what, How: added, New: text} })...)
	}
	order := []string{worse, gone, added, better, changed}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(slices.Index(order, a.How), slices.Index(order, b.How)) })
	return changes
}

// missing makes a change of each text that is not among others.
func missing(texts, others []string, change func(string) Change) (changes []Change) {
	among := map[string]bool{}
	for _, o := range others {
		among[o] = true
	}
	for _, text := range texts {
		if !among[text] {
			changes = append(changes, change(printable(text)))
		}
	}
	return changes
}

func recordLine(r Record) string { return r.Name + " " + r.Type + " " + r.Value }

// checkChanges compares the checks by their step and ID.
func checkChanges(from, to *Document) (changes []Change) {
	type key struct{ step, id string }
	index := func(d *Document) map[key]Check {
		all := map[key]Check{}
		for _, c := range d.Checks {
			all[key{c.Step, c.ID}] = c
		}
		return all
	}
	before, after := index(from), index(to)
	for _, c := range from.Checks {
		now, there := after[key{c.Step, c.ID}]
		switch {
		case !there:
			changes = append(changes, Change{What: checkName(c), How: gone, Old: told(c)})
		case told(c) != told(now) && (!tellsTime(c) || c.Status != now.Status || !reflect.DeepEqual(c.Waiver, now.Waiver)):
			changes = append(changes, Change{What: checkName(c), How: direction(c.Status, now.Status), Old: told(c), New: told(now)})
		}
	}
	for _, c := range to.Checks {
		if _, there := before[key{c.Step, c.ID}]; !there {
			changes = append(changes, Change{What: checkName(c), How: added, New: told(c)})
		}
	}
	return changes
}

func checkName(c Check) string {
	return printable(fmt.Sprintf("the check %s of %s (%s)", c.ID, c.Step, c.Title.String()))
}

// told is what a check says: its verdict, and what was seen.
func told(c Check) string {
	text := string(c.Status)
	if c.Observed.String() != "" {
		text += ": " + c.Observed.String()
	}
	if w := c.Waiver; w != nil {
		text += fmt.Sprintf(" (waived by %s: %s)", w.By, w.Reason)
	}
	return printable(text)
}

// tellsTime tells whether a check saw the time of day alone, which is another one in each report. A hardware clock that does not pass tells by
// how much it is wrong.
func tellsTime(c Check) bool { return c.ID == "hw-clock" || c.ID == "hw-rtc" && c.Status == check.Pass }

// direction is how a verdict changed.
func direction(from, to check.Status) string {
	if from == to {
		return changed
	}
	if check.Worst([]check.Check{{Status: from}, {Status: to}}) == to {
		return worse
	}
	return better
}

// valueChanges compares what each report has one of.
func valueChanges(from, to *Document) (changes []Change) {
	for _, v := range []struct{ what, from, to string }{
		{"the verdict", from.Verdict, to.Verdict},
		{"the kind of report", from.Kind, to.Kind},
		{"the serial number", from.Node.Serial, to.Node.Serial},
		{"the model", from.Node.Model, to.Node.Model},
		{"the host name", from.Node.Hostname, to.Node.Hostname},
		{"the address", from.Node.Address, to.Node.Address},
		{"the internal address", from.Node.Internal, to.Node.Internal},
		{"the cluster ID", from.Cluster.ID, to.Cluster.ID},
		{"the OpenShift version", from.Cluster.Version, to.Cluster.Version},
		{"the name before", from.Cluster.OldDomain, to.Cluster.OldDomain},
		{"the name now", from.Cluster.NewDomain, to.Cluster.NewDomain},
		{"the web console", from.URLs.Console, to.URLs.Console},
		{"the API", from.URLs.API, to.URLs.API},
		{"the Touchdown release", from.Touchdown, to.Touchdown},
		{"who sealed it", from.SealedBy, to.SealedBy},
		{"the second person", from.SecondPerson, to.SecondPerson},
		{"the key of the node", from.keyID(), to.keyID()},
	} {
		if v.from != v.to {
			changes = append(changes, Change{What: v.what, How: changed, Old: orNothing(v.from), New: orNothing(v.to)})
		}
	}
	return changes
}

func (d *Document) keyID() string {
	if d.Signer == nil {
		return ""
	}
	return d.Signer.KeyID
}

func orNothing(text string) string { return cmp.Or(printable(text), "none") }

// certificateChanges compares the certificates by what they are for.
func certificateChanges(from, to *Document) (changes []Change) {
	seen := func(c Certificate) string {
		return printable(fmt.Sprintf("SHA-256 %.16s..., valid until %s", c.SHA256, c.NotAfter.UTC().Format(time.DateOnly)))
	}
	same := func(a Certificate) func(Certificate) bool {
		return func(b Certificate) bool { return a.Use == b.Use && a.Name == b.Name }
	}
	what := func(c Certificate) string { return printable("the certificate of " + c.Use + " for " + c.Name) }
	for _, c := range from.Certificates {
		i := slices.IndexFunc(to.Certificates, same(c))
		switch {
		case i < 0:
			changes = append(changes, Change{What: what(c), How: gone, Old: seen(c)})
		case to.Certificates[i].SHA256 != c.SHA256:
			changes = append(changes, Change{What: what(c), How: changed, Old: seen(c), New: seen(to.Certificates[i])})
		}
	}
	for _, c := range to.Certificates {
		if !slices.ContainsFunc(from.Certificates, same(c)) {
			changes = append(changes, Change{What: what(c), How: added, New: seen(c)})
		}
	}
	return changes
}
