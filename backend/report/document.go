// Package report makes the hand-over report: one typed document, as text for people and as JSON for machines.
package report

import (
	"cmp"
	"fmt"
	"net/netip"
	"time"

	"touchdown/backend/check"
)

// Schema names the form of the JSON. It changes when a reader would have to.
const Schema = "touchdown.dev/report/v1alpha1"

// What a report tells of.
const (
	Landing = "landing" // a node was taken to its site
	Factory = "factory" // a node was checked and prepared on the bench line
)

// Document is the whole report. It holds no secrets.
type Document struct {
	Schema       string        `json:"schema"`
	Kind         string        `json:"kind"` // Landing or Factory
	Made         time.Time     `json:"made"`
	Verdict      string        `json:"verdict"` // "landed", "landed, with warnings", "passed", ...
	Touchdown    string        `json:"touchdown"`
	Node         Node          `json:"node"`
	Cluster      Cluster       `json:"cluster"`
	URLs         URLs          `json:"urls"`
	NameServers  []string      `json:"nameServers"` // the site's; none: its clients need the hosts lines
	DNS          []Record      `json:"dns"`
	Hosts        []string      `json:"hosts"` // lines of a hosts file: address and name
	Certificates []Certificate `json:"certificates"`
	Checks       []Check       `json:"checks"`
	Waivers      []Waiver      `json:"waivers"`
	Steps        []Step        `json:"steps"`
	APIWrites    int64         `json:"apiWrites"`
	Warnings     []string      `json:"warnings"`
	Problems     []string      `json:"problems"`
	SealedBy     string        `json:"sealedBy,omitempty"`     // who ran the list, where two people stand behind a seal; else ""
	SecondPerson string        `json:"secondPerson,omitempty"` // who checks and countersigns it then
	Medium       string        `json:"medium,omitempty"`       // what becomes of the medium that brought the site config; "" where none did
	Signer       *Signer       `json:"signer,omitempty"`       // nil: the report is not signed
	Previous     *Previous     `json:"previous,omitempty"`     // nil: this is the first that the node knows of
}

// Signer is the key that signs a report. It is in the report so that the signature can be checked; that it is the node's own, the
// factory's ledger says.
type Signer struct {
	KeyID     string `json:"keyID"`     // the first 16 hexadecimal digits of the SHA-256 of the key
	PublicKey string `json:"publicKey"` // base64 of its SubjectPublicKeyInfo: the line of a PEM file
}

// Previous is the report of the same machine that this one follows.
type Previous struct {
	SHA256 string    `json:"sha256"` // of its JSON
	Kind   string    `json:"kind"`
	Made   time.Time `json:"made"`
}

// Node is the machine.
type Node struct {
	Hostname string `json:"hostname"`
	Serial   string `json:"serial"`
	Model    string `json:"model,omitempty"`
	Address  string `json:"address"`                   // where the site reaches it; "" when that is not known
	Internal string `json:"internalAddress,omitempty"` // by which the cluster knows it
}

// Cluster is what runs on it.
type Cluster struct {
	ID        string `json:"id"`
	Version   string `json:"version"`
	OldDomain string `json:"oldDomain"`
	NewDomain string `json:"newDomain"`
}

// URLs are for the people who will work with the cluster.
type URLs struct {
	Console string `json:"console"`
	API     string `json:"api"`
}

// Record is one DNS record that the site's administrator has to make.
type Record struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Value    string `json:"value"`
	Optional bool   `json:"optional,omitempty"`
}

// Certificate is one that the node serves.
type Certificate struct {
	Use      string    `json:"use"` // "API", "web consoles"
	Name     string    `json:"name"`
	Issuer   string    `json:"issuer"`
	SHA256   string    `json:"sha256"`
	NotAfter time.Time `json:"notAfter"`
}

// Check is a check with the step that made it.
type Check struct {
	Step string `json:"step"`
	check.Check
}

// Waiver is a check for which a person took responsibility.
type Waiver struct {
	Check    string `json:"check"`
	Title    string `json:"title"`
	Observed string `json:"observed"` // what the person knew of
	By       string `json:"by"`
	Reason   string `json:"reason"`
}

// Step is one step of the work.
type Step struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Outcome string  `json:"outcome"` // "done", "skipped"
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// New puts the document together. A step without an outcome, such as the one that writes the report, is left out.
func New(job Job, facts Facts, made time.Time) *Document {
	d := &Document{
		Schema: Schema, Kind: cmp.Or(job.Kind, Landing), Made: made.UTC().Truncate(time.Second), Touchdown: job.Version,
		Node:    Node{Hostname: job.Hostname, Serial: job.Serial, Model: facts.Model, Internal: facts.Internal},
		Cluster: facts.Cluster, URLs: facts.URLs, NameServers: texts(facts.Servers),
		DNS: Records(facts.Cluster.NewDomain, facts.Addresses), Hosts: Hosts(facts.Names, facts.Addresses),
		Certificates: facts.Certificates, APIWrites: facts.Writes,
		// Empty, not nil: readers of the JSON find a list everywhere.
		Warnings: append(append([]string{}, job.Warnings...), facts.Gaps...), Problems: append([]string{}, job.Problems...),
		Checks: []Check{}, Waivers: []Waiver{}, Steps: []Step{},
	}
	if len(facts.Addresses) > 0 {
		d.Node.Address = facts.Addresses[0].String()
	}
	if d.Certificates == nil {
		d.Certificates = []Certificate{}
	}
	for _, s := range job.Steps {
		if s.Outcome != "" {
			d.Steps = append(d.Steps, s.Step)
		}
		for _, c := range s.Checks {
			d.Checks = append(d.Checks, Check{Step: s.ID, Check: c})
			if w := c.Waiver; c.Status == check.Waived && w != nil {
				d.Waivers = append(d.Waivers, Waiver{Check: c.ID, Title: c.Title.String(), Observed: c.Observed.String(), By: w.By, Reason: w.Reason})
			}
		}
	}
	if job.Medium {
		d.Medium = onMedium
	}
	d.Verdict = d.verdict()
	return d
}

// onMedium is what a report can say of a medium, to which it is added before the site config there is overwritten.
const onMedium = "The site config came from a medium. After the landing the node overwrites it there, unless it was written with --keep or the " +
	"medium cannot be written to; every screen tells the result. Flash may keep copies of what is overwritten: destroy the medium if it held secrets."

// worst is the status that needs most attention.
func (d *Document) worst() check.Status {
	all := make([]check.Check, len(d.Checks))
	for i, c := range d.Checks {
		all[i] = c.Check
	}
	if worst := check.Worst(all); worst != check.Pass || len(d.Warnings) == 0 {
		return worst
	}
	return check.Warn
}

func (d *Document) verdict() string {
	worst := d.worst()
	text := "landed"
	if d.Kind == Factory {
		text = "passed"
	}
	switch {
	case worst == check.Fail:
		text = "NOT " + text + ": a check failed"
	case worst == check.Warn || len(d.Warnings) > 0:
		text += ", with warnings"
	}
	if len(d.Waivers) > 0 {
		text += fmt.Sprintf(", %d waived", len(d.Waivers))
	}
	return text
}

// Records are the DNS records of a domain whose node the site reaches at these addresses.
func Records(domain string, addresses []netip.Addr) []Record {
	records := []Record{}
	if domain == "" {
		return records
	}
	for _, name := range []string{"api.", "*.apps.", "api-int."} {
		for _, a := range addresses {
			kind := "A"
			if a.Is6() {
				kind = "AAAA"
			}
			// The node answers for api-int itself; only further machines of the cluster would ask the site for it.
			records = append(records, Record{Name: name + domain, Type: kind, Value: a.String(), Optional: name == "api-int."})
		}
	}
	return records
}
