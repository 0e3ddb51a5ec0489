package steps

import (
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

// keepReport writes a report into a folder, signed where there is a key and chained to the last report of this machine.
func keepReport(node *backend.Node, dir string, d *report.Document, key *envelope.SigningKey) (unsigned message.Text, err error) {
	folder := report.Folder{Dir: dir}
	if key != nil {
		d.Previous = lastReport(node, d.Node.Serial, dir)
		folder.Sign = proof.Sign(d, *key)
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
// of a new one.
func lastReport(node *backend.Node, serial, dir string) (last *report.Previous) {
	site := node.Host.Path(layout.State)
	for _, folder := range append([]string{dir, site, node.Host.Path(layout.FactoryState)}, layout.Returns(site)...) {
		if p := (report.Folder{Dir: folder}).Last(serial); p != nil && (last == nil || p.Made.After(last.Made)) {
			last = p
		}
	}
	return last
}

// say says a sentence, if there is one.
func say(rep Report, text message.Text) {
	if text.String() != "" {
		rep.Say(text)
	}
}
