package report

import (
	"fmt"

	"touchdown/backend/envelope"
)

// signature tells how the signature of a report is checked, with Touchdown and without it.
func (d *Document) signature() []string {
	if d.Signer == nil {
		return nil
	}
	lines := []string{
		"HOW TO CHECK THE SIGNATURE",
		para(2, fmt.Sprintf("The node signed %s, which holds this report, with its own key %s. Compare the key with the factory's ledger, which has the "+
			"key of each serial number (reportKey): a report cannot prove itself whose key it has.", SignedFile, d.Signer.KeyID)),
		"", entry("With Touchdown:"), "",
		"    touchdown report verify " + SignedFile + " --ledger FILE",
		"", entry("In a browser, without a network: the page that touchdown report page writes. With OpenSSL 3, in the folder of the file:"), "",
	}
	for _, c := range d.Commands() {
		lines = append(lines, "    "+c)
	}
	lines = append(lines, "", entry("Then report.checked.json is the report as the node signed it."))
	if p := d.Previous; p != nil {
		lines = append(lines, "", entry(fmt.Sprintf("It follows the %s report of %s, whose JSON has this SHA-256:", p.Kind, p.Made.UTC().Format("2006-01-02 15:04 UTC"))),
			fingerprint(p.SHA256))
	}
	return lines
}

// second tells who the second person is, and where the signature of that person is: in what the node signed it cannot be yet.
func (d *Document) second() string {
	return d.SecondPerson + ", by the second signature in " + SignedFile + "; touchdown report verify --second-key checks it"
}

// unchecked is what html and text say of a signed report of which only the JSON is there.
const unchecked = "This is the JSON of a report alone: its signature was not checked. What " + SignedFile + " holds can be checked."

// unsigned is the report without what it says of its signature.
func (d *Document) unsigned() *Document {
	bare := *d
	bare.Signer, bare.Previous = nil, nil
	return &bare
}

// UncheckedText is Text of a report whose signature was not checked.
func (d *Document) UncheckedText() []byte {
	return append([]byte(para(0, unchecked)+"\n\n"), d.unsigned().Text()...)
}

// UncheckedHTML is HTML of a report whose signature was not checked.
func (d *Document) UncheckedHTML() ([]byte, error) { return d.unsigned().page("", "", unchecked) }

// Commands check the signature of a report with nothing but a shell and OpenSSL 3; none for a report that is not signed. People paste
// them: nothing gets into them but a key.
func (d *Document) Commands() []string {
	if d.Signer == nil {
		return nil
	}
	key, err := envelope.ParsePublicKey(d.Signer.PublicKey)
	if err != nil {
		return nil
	}
	return []string{
		"K=" + key.String(),
		`printf -- '-----BEGIN PUBLIC KEY-----\n%s\n' $K > node.pub`,
		`printf -- '-----END PUBLIC KEY-----\n' >> node.pub`,
		"E=" + SignedFile,
		`sed 's/.*"payload":"\([^"]*\)".*/\1/' $E | openssl base64 -d -A > st.json`,
		`sed 's/.*\[{[^}]*"sig":"\([^"]*\).*/\1/' $E |`, // the first one, where a second person has signed, too
		`  openssl base64 -d -A > st.sig`,
		`S=$(wc -c < st.json | tr -d ' ')`,
		`printf 'DSSEv1 28 application/vnd.in-toto+json %s ' $S > st.dsse`,
		`cat st.json >> st.dsse`,
		`openssl pkeyutl -verify -pubin -inkey node.pub -rawin \`,
		`  -in st.dsse -sigfile st.sig`,
		`sed -n 's/.*"content": "\([^"]*\)".*/\1/p' st.json |`,
		`  openssl base64 -d -A > report.checked.json`,
	}
}
