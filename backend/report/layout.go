package report

import (
	"fmt"
	"strings"
	"time"
)

// Text is the report for people: at most 76 columns of plain ASCII, so that it reads the same on a serial console, in
// less and on paper. It is laid out in Go, because text/template calls methods by names that the linker cannot know: a
// program that has it keeps every method of every type, which made this one 16 MB larger.
func (d *Document) Text() []byte {
	blocks := [][]string{d.head()}
	if d.Kind != Factory { // nobody works with a cluster on the bench line
		blocks = append(blocks,
			[]string{"WHERE TO REACH IT", field("Web console", d.URLs.Console), field("API", d.URLs.API)})
		blocks = append(blocks, d.names()...)
	}
	blocks = append(blocks,
		block("CERTIFICATES SERVED (SHA-256 fingerprints)", orNone(each(d.Certificates, served), "none was seen")),
		block("CHECKS: "+tally(d.Checks), each(d.Checks, verdict)))
	for _, b := range [][]string{
		block("WAIVED: a person took responsibility", each(d.Waivers, waived)),
		block("WARNINGS", each(d.Warnings, entry)),
		block("PROBLEMS MET ON THE WAY", each(d.Problems, entry)),
	} {
		if len(b) > 1 {
			blocks = append(blocks, b)
		}
	}
	writes := fmt.Sprintf("%d calls to the cluster's API since Touchdown's last start", d.APIWrites)
	blocks = append(blocks, append(block("WORK DONE", each(d.Steps, timing)), field("Changes made", writes)))
	if d.Medium != "" {
		blocks = append(blocks, block("THE SITE CONFIG'S MEDIUM", []string{para(0, d.Medium)}))
	}
	if lines := d.signature(); lines != nil {
		blocks = append(blocks, lines)
	}
	blocks = append(blocks, []string{
		rule("-"),
		para(0, "This report holds no passwords and no private keys. The same facts for machines are in report.json; "+
			"sha256sum -c SHA256SUMS tells whether either was changed."),
	})
	parts := each(blocks, func(lines []string) string { return strings.Join(lines, "\n") })
	return []byte(ascii(strings.Join(parts, "\n\n") + "\n"))
}

// names is what the site's people add for the cluster to be found: records where there is a DNS server, else hosts lines.
func (d *Document) names() [][]string {
	const unknown = "none: the node's address in the site's network is not known"
	records := block("DNS RECORDS FOR THE SITE'S ADMINISTRATOR", orNone(each(d.DNS, record), unknown))
	if len(d.NameServers) > 0 {
		return [][]string{records}
	}
	records[0] = "DNS RECORDS, FOR WHEN THE SITE HAS A DNS SERVER"
	return [][]string{
		block("THIS SITE HAS NO DNS SERVER: LINES FOR THE HOSTS FILE OF EACH CLIENT",
			append(orNone(each(d.Hosts, hostsLine), unknown), entry("To copy them: touchdown report hosts, or the file "+HostsFile+" beside this report."))),
		records,
	}
}

func (d *Document) head() []string {
	lines := []string{
		rule("="), d.title(), rule("="),
		field("Result", d.Verdict),
		field("Made", d.Made.UTC().Format("2006-01-02 15:04 UTC")),
		field("Node", d.Node.Hostname),
		field("Serial number", d.Node.Serial),
	}
	if d.Node.Model != "" {
		lines = append(lines, field("Model", d.Node.Model))
	}
	if d.SecondPerson != "" {
		lines = append(lines, field("Sealed by", d.SealedBy), field("Second person", d.second()))
	}
	return append(lines,
		field("Cluster ID", d.Cluster.ID),
		field("OpenShift", d.Cluster.Version),
		field("Touchdown", d.Touchdown),
		field("Name before", d.Cluster.OldDomain),
		field("Name now", d.Cluster.NewDomain),
	)
}

func (d *Document) title() string {
	if d.Kind == Factory {
		return "TOUCHDOWN FACTORY REPORT"
	}
	return "TOUCHDOWN HAND-OVER REPORT"
}

// block is a title with what belongs to it.
func block(title string, lines []string) []string { return append([]string{title}, lines...) }

// each makes a text of each item.
func each[T any](items []T, text func(T) string) []string {
	var lines []string
	for _, item := range items {
		lines = append(lines, text(item))
	}
	return lines
}

// orNone says why there are no lines.
func orNone(lines []string, why string) []string {
	if len(lines) == 0 {
		return []string{entry(why)}
	}
	return lines
}

func rule(of string) string { return strings.Repeat(of, width) }

func entry(text string) string { return para(2, text) }

func served(c Certificate) string {
	until := c.NotAfter.UTC().Format(time.DateOnly)
	return entry(fmt.Sprintf("%s, for %s, valid until %s", c.Use, c.Name, until)) + "\n" + fingerprint(c.SHA256)
}

func waived(w Waiver) string {
	return entry(fmt.Sprintf("%s: %s. Waived by %s (%s)", w.Title, strings.TrimSuffix(w.Observed, "."), w.By, w.Reason))
}
