package steps

import (
	"slices"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/report"
	"touchdown/backend/report/proof"
)

// reportKey is the node's key for its reports, nil where it cannot be had. A report without a signature is no reason to stop: a check
// says so, before the report is put together.
func reportKey(node *backend.Node, rep Report) *envelope.SigningKey {
	key, err := proof.NodeKey(node.Host)
	if err == nil {
		return &key
	}
	p := problem.From(err)
	rep.Check(check.Check{
		ID: "report-signature", Title: message.T("Signature of the report"), Status: check.Warn, Fix: p.Fix,
		Observed: message.F("the report is not signed: %s", p.Summary), Expected: message.T("signed with the node's own key"),
	})
	return nil
}

// keepReport writes the report of a job that began at since into a folder, signed where there is a key and chained to the last report of
// this machine.
func keepReport(node *backend.Node, dir string, d *report.Document, key *envelope.SigningKey, since time.Time) (unsigned message.Text, err error) {
	folder := report.Folder{Dir: dir, Since: since}
	if key != nil {
		d.Previous = lastReport(node, d, dir)
		folder.Sign, folder.Extends = proof.Sign(d, *key), proof.Extends
		raw, err := d.JSON()
		if err == nil {
			_, err = folder.Sign(raw)
		}
		if err != nil {
			folder.Sign, d.Signer, d.Previous = nil, nil, nil
			unsigned = message.F("The report is not signed: %s.", err)
		}
	}
	return unsigned, folder.Save(d)
}

// lastReport is the newest report that the node has of this machine: of its site, of an earlier one, of its factory, or in the folder
// of a new one. A clock may have been set back between them, so that the reports themselves are asked first: none is the last that another
// one names, and a signed one that follows none was the first. Only between the others their time decides. One without a signature follows
// none either, and may be the newest: it counts with the others, unless its time is later than that of the next report.
func lastReport(node *backend.Node, next *report.Document, dir string) *report.Previous {
	site := node.Host.Path(layout.State)
	var later, first []*report.Previous
	named := map[string]bool{}
	for _, folder := range append([]string{site, dir, node.Host.Path(layout.FactoryState)}, layout.Returns(site)...) {
		p, d := (report.Folder{Dir: folder}).Last(next.Node.Serial)
		switch {
		case p == nil:
			continue
		case d.Previous != nil:
			later, named[d.Previous.SHA256] = append(later, p), true
		case d.Signer == nil && !d.Made.After(next.Made):
			later = append(later, p)
		default:
			first = append(first, p)
		}
	}
	for _, all := range [][]*report.Previous{later, first} {
		all = slices.DeleteFunc(all, func(p *report.Previous) bool { return named[p.SHA256] })
		if len(all) > 0 {
			return slices.MaxFunc(all, func(a, b *report.Previous) int { return a.Made.Compare(b.Made) })
		}
	}
	return nil
}

// say says a sentence, if there is one.
func say(rep Report, text message.Text) {
	if text.String() != "" {
		rep.Say(text)
	}
}
