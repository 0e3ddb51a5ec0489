package report

import (
	"fmt"
	"html"
	"strings"
	"time"
	"unicode"

	"touchdown/backend/check"
)

// style is for A4 paper and screens alike. The verdict is told in words; colour only helps.
const style = `@page{size:A4;margin:14mm}body{font:10pt/1.35 sans-serif;color:#000;background:#fff;max-width:182mm;margin:0 auto}
h1{font-size:17pt;margin:0 0 3mm}h2{font-size:12pt;margin:6mm 0 2mm;border-bottom:1px solid #000}table{border-collapse:collapse;width:100%}
td,th{border:1px solid #999;padding:1mm 2mm;text-align:left;vertical-align:top;overflow-wrap:anywhere}th{background:#eee}
.facts th{width:38mm}.verdict{font-size:15pt;font-weight:bold;border:2px solid #000;padding:3mm;margin:3mm 0}.fail{background:#fbb}.warn{background:#fe9}
.pass{background:#cfc}.sign td{height:17mm;width:33%}.first{display:flex;gap:6mm}.first svg{flex:none}pre{font-size:8pt;white-space:pre-wrap;overflow-wrap:anywhere}
.code{font-family:monospace;overflow-wrap:anywhere}.page{break-before:page}tr,pre{break-inside:avoid}`

// sheet is an HTML page that is being written. All text gets into it by text, which nothing in a report can leave.
type sheet struct{ strings.Builder }

// printable is a text on one line, with a ? for what shows nothing or turns the direction of writing.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "))
}

func (s *sheet) text(text string) { s.WriteString(html.EscapeString(printable(text))) }

// in writes a text in an element of a class, which can be "".
func (s *sheet) in(element, class, text string) {
	s.WriteString("<" + element)
	if class != "" {
		s.WriteString(` class="` + class + `"`)
	}
	s.WriteString(">")
	s.text(text)
	s.WriteString("</" + element + ">\n")
}

// row writes a row of cells; the first is a heading where the table has no other.
func (s *sheet) row(element string, cells ...string) {
	s.WriteString("<tr>")
	for _, c := range cells {
		s.in(element, "", c)
	}
	s.WriteString("</tr>\n")
}

func (s *sheet) facts(pairs ...string) {
	s.WriteString(`<table class="facts">` + "\n")
	for i := 0; i+1 < len(pairs); i += 2 {
		s.WriteString("<tr>")
		s.in("th", "", pairs[i])
		s.in("td", "", orUnknown(pairs[i+1]))
		s.WriteString("</tr>\n")
	}
	s.WriteString("</table>\n")
}

func (s *sheet) list(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	s.in("h2", "", title)
	s.WriteString("<ul>\n")
	for _, l := range lines {
		s.in("li", "", l)
	}
	s.WriteString("</ul>\n")
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// HTML is the report for paper: one file without scripts that loads nothing. Of a signed report it has the digest of its JSON, and the
// label as a QR code; without a label there is none.
func (d *Document) HTML(digest, label string) ([]byte, error) {
	return d.page(digest, label, "This report is not signed.")
}

// page is HTML; unsigned is what it says of a report without a signer.
func (d *Document) page(digest, label, unsigned string) ([]byte, error) {
	s := &sheet{}
	s.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` + "\n")
	s.in("title", "", d.title()+" "+d.Node.Serial)
	s.WriteString("<style>" + style + "</style></head><body>\n")
	if err := d.cover(s, digest, label, unsigned); err != nil {
		return nil, err
	}
	d.details(s)
	s.WriteString("</body></html>\n")
	return []byte(s.String()), nil
}

// cover is the first page: what a person has to know and to sign.
func (d *Document) cover(s *sheet, digest, label, unsigned string) error {
	title := "Hand-over report"
	if d.Kind == Factory {
		title = "Factory report"
	}
	s.in("h1", "", title)
	s.in("div", "verdict "+class(d.worst()), d.Verdict)
	if d.SecondPerson != "" {
		s.facts("Sealed by", d.SealedBy, "Second person", d.second())
	}
	s.facts("Serial number", d.Node.Serial, "Model", d.Node.Model, "Node", d.Node.Hostname, "Address", d.Node.Address, "Cluster ID", d.Cluster.ID,
		"OpenShift", d.Cluster.Version, "Name before", d.Cluster.OldDomain, "Name now", d.Cluster.NewDomain,
		"Made", d.Made.UTC().Format("2006-01-02 15:04 UTC"), "Touchdown", d.Touchdown, "Checks", tally(d.Checks),
		"Waived", fmt.Sprint(len(d.Waivers)), "Warnings, problems", fmt.Sprintf("%d, %d", len(d.Warnings), len(d.Problems)))
	s.in("h2", "", "Accepted by")
	s.WriteString(`<table class="sign">` + "\n")
	s.row("th", "Name", "Date", "Signature")
	for range 2 {
		s.row("td", "", "", "")
	}
	s.WriteString("</table>\n")
	s.in("h2", "", "Signature of the node")
	if d.Signer == nil {
		s.in("p", "", unsigned)
		return nil
	}
	s.WriteString(`<div class="first">`)
	if label != "" {
		drawn, err := qrCode(label)
		if err != nil {
			return err
		}
		s.WriteString(drawn)
	}
	s.WriteString("<div>")
	s.in("p", "", "Key of the node "+d.Signer.KeyID+". SHA-256 of the report:")
	s.in("p", "code", digest)
	code := "There is no QR code: the serial number or the verdict is too long for one."
	if label != "" {
		code = "The QR code holds serial number, verdict, digest, key and signature as text. The page that touchdown report page writes checks it without a network."
	}
	s.in("p", "", code+" The factory's ledger says whose key it is. How to check the whole report stands at its end.")
	s.WriteString("</div></div>\n")
	return nil
}

// details are the further pages.
func (d *Document) details(s *sheet) {
	s.in("h2", "page", "Checks: "+tally(d.Checks))
	s.WriteString("<table>\n")
	s.row("th", "Step", "Check", "Result", "Observed", "Expected")
	for _, c := range d.Checks {
		s.WriteString("<tr>")
		s.in("td", "", c.Step)
		s.in("td", "", c.Title.String())
		s.in("td", class(c.Status), string(c.Status))
		s.in("td", "", c.Observed.String())
		s.in("td", "", c.Expected.String())
		s.WriteString("</tr>\n")
	}
	s.WriteString("</table>\n")
	s.list("Waived: a person took responsibility", each(d.Waivers, func(w Waiver) string {
		return fmt.Sprintf("%s: %s. Waived by %s (%s)", w.Title, strings.TrimSuffix(w.Observed, "."), w.By, w.Reason)
	}))
	s.list("Warnings", d.Warnings)
	s.list("Problems met on the way", d.Problems)
	if d.Medium != "" {
		s.list("The site config's medium", []string{d.Medium})
	}
	s.list("Where to reach it", each([]string{d.URLs.Console, d.URLs.API}, orUnknown))
	s.list("DNS records", each(d.DNS, func(r Record) string { return r.Name + " " + r.Type + " " + r.Value }))
	s.list("Certificates served (SHA-256)", each(d.Certificates, func(c Certificate) string {
		return fmt.Sprintf("%s, for %s, valid until %s: %s", c.Use, c.Name, c.NotAfter.UTC().Format(time.DateOnly), c.SHA256)
	}))
	s.list("Work done", each(d.Steps, func(step Step) string { return clock(step.Seconds) + " " + step.Title + ": " + step.Outcome }))
	if d.Signer == nil {
		return
	}
	s.in("h2", "", "How to check the signature with OpenSSL 3")
	s.in("p", "", "Compare K with the key that the factory's ledger has for this serial number (reportKey), then run in the folder of "+SignedFile+":")
	s.WriteString("<pre>" + html.EscapeString(strings.Join(d.Commands(), "\n")) + "</pre>\n")
	if p := d.Previous; p != nil {
		s.in("p", "", fmt.Sprintf("The report follows the %s report of %s with this SHA-256: %s", p.Kind, p.Made.UTC().Format("2006-01-02 15:04 UTC"), p.SHA256))
	}
}

// class is the colour of a status, "" for none.
func class(s check.Status) string {
	switch s {
	case check.Pass, check.Warn, check.Fail:
		return string(s)
	case check.Skip, check.Waived:
	}
	return ""
}
