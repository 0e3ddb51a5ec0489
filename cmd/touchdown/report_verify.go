package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/ledger"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/report/proof"
)

// verifyFlags are the flags of report verify.
type verifyFlags struct{ key, secondKey, revoked, ledger, previous string }

func reportVerify(c *common) *cobra.Command {
	var f verifyFlags
	cmd := withJSON(&c.format, &cobra.Command{
		Use: "verify FILE", Short: "Tell whether a signed report is genuine", Args: cobra.ExactArgs(1),
		Long: `Verify reads the file report.signed.json of a node, or the text of the QR code on a printed report, and tells whether it
was changed and who signed it. It needs no engine, no node and no network.

A node signs with its own key, which a report cannot prove to be that of the node. The factory can: its ledger has the key of each
serial number. Give the ledger with --ledger, or the node's public key (PEM) with --key; without either the command prints what
the report says, and fails, because anyone could have signed it. With --revoked the keys on a list (see touchdown media
revoke) are not trusted, whatever --ledger or --key says of them. A key that the ledger has replaced since still counts, and the
command says that it is an earlier one.

With --second-key the report also has to have the signature of a second person (touchdown factory --second-key, or touchdown report
countersign), of one of the keys in that file. Without it a second signature is named, but not checked.

With --previous it also tells whether the report follows that earlier one, so that none was left out between them.`,
		Example: "  touchdown report verify report.signed.json --ledger ledger.jsonl\n  touchdown report verify landing.json --key node.pub --previous factory.json",
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		if f.key != "" && f.ledger != "" {
			return usage(errors.New("--key and --ledger: one of both says whose key it is"))
		}
		if f.revoked != "" && f.key == "" && f.ledger == "" {
			return usage(errors.New("--revoked goes with --ledger or --key"))
		}
		return f.verify(cmd, args[0], asJSON)
	})
	for _, flag := range []struct {
		to        *string
		name, use string
	}{
		{&f.key, "key", "the node's public key (PEM), or several, one behind the other"},
		{&f.secondKey, "second-key", "public key (PEM) of the second person, or several: the report has to have that signature, too"},
		{&f.revoked, "revoked", "with --ledger or --key: list of revoked keys"},
		{&f.ledger, "ledger", "the factory's ledger, which has the key of each serial number"},
		{&f.previous, "previous", "the signed report that this one has to follow"},
	} {
		cmd.Flags().StringVar(flag.to, flag.name, "", flag.use)
	}
	return cmd
}

// verdictOf is what report verify prints; part of the contract with scripts.
type verdictOf struct {
	Serial   string    `json:"serial"`
	Verdict  string    `json:"verdict"`
	Kind     string    `json:"kind,omitempty"` // of a whole report
	Hostname string    `json:"hostname,omitempty"`
	Made     time.Time `json:"made"`
	Digest   string    `json:"sha256"`
	KeyID    string    `json:"keyID"`
	Vouched  string    `json:"vouchedBy,omitempty"`  // the file that says whose key it is
	Earlier  bool      `json:"earlierKey,omitempty"` // the ledger has a newer key of this serial number
	Second   string    `json:"secondKeyID,omitempty"`
	SealedBy string    `json:"sealedBy,omitempty"`        // as the report names them, where two people stand behind a seal
	Person   string    `json:"secondPerson,omitempty"`    // the second one
	Proven   string    `json:"secondVouchedBy,omitempty"` // the file of --second-key; absent: the second signature was not checked
	Previous string    `json:"previous,omitempty"`        // SHA-256 of the report before it
	Follows  string    `json:"follows,omitempty"`         // the file of --previous
}

func (f *verifyFlags) verify(cmd *cobra.Command, file string, asJSON bool) error {
	p, is, err := signedIn(cmd, file)
	if err != nil {
		return err
	}
	if err := f.trust(cmd, p, is); err != nil {
		return err
	}
	if f.secondKey != "" {
		if err := f.second(cmd, p); err != nil {
			return err
		}
		is.Proven = f.secondKey
	}
	if f.previous != "" {
		if err := f.follows(cmd, p); err != nil {
			return err
		}
		is.Follows = f.previous
	}
	if asJSON {
		err = printJSON(cmd, is)
	} else {
		is.print(printed(cmd))
	}
	if err == nil && is.Vouched == "" {
		err = &problem.Problem{
			Code: "RPT-NAME", Summary: message.F("The report was not changed since key %s signed it, but nobody says whose key that is.", is.KeyID),
			Fix: message.T("Give the factory's ledger with --ledger, or the node's public key with --key."),
		}
	}
	return err
}

// signedIn reads a signed report, or the text of its QR code.
func signedIn(cmd *cobra.Command, file string) (*proof.Proof, *verdictOf, error) {
	data, err := readGiven(cmd, file, proof.MaxSigned)
	if err != nil {
		return nil, nil, err
	}
	if text := strings.TrimSpace(string(data)); strings.HasPrefix(text, "touchdown-report:") {
		l, err := proof.ReadLabel(text)
		if err != nil {
			return nil, nil, err
		}
		key, err := envelope.ParsePublicKey(l.Key)
		if err != nil {
			return nil, nil, err
		}
		return &proof.Proof{Key: key, Digest: l.Digest}, &verdictOf{Serial: l.Serial, Verdict: l.Verdict, Made: l.Made, Digest: l.Digest, KeyID: l.KeyID}, nil
	}
	p, err := proof.Open(data)
	if err != nil {
		return nil, nil, err
	}
	d := p.Report
	is := &verdictOf{Serial: d.Node.Serial, Verdict: d.Verdict, Kind: d.Kind, Hostname: d.Node.Hostname, Made: d.Made, Digest: p.Digest, KeyID: p.Key.ID(), Second: p.Second, SealedBy: d.SealedBy, Person: d.SecondPerson}
	if d.Previous != nil {
		is.Previous = d.Previous.SHA256
	}
	return p, is, nil
}

// trust asks the files of the flags whose key it is.
func (f *verifyFlags) trust(cmd *cobra.Command, p *proof.Proof, is *verdictOf) error {
	if err := f.notRevoked(cmd, p); err != nil {
		return err
	}
	switch {
	case f.ledger != "":
		keys, err := ledger.ReportKeys(f.ledger, is.Serial)
		if err != nil {
			return notThere(err)
		}
		is.Vouched, is.Earlier = f.ledger, len(keys) > 0 && keys[len(keys)-1] != p.Key.String()
		return p.Enrolled(is.Serial, keys)
	case f.key != "":
		trust, err := readTrust(cmd, "key", f.key, f.revoked)
		if err != nil {
			return err
		}
		is.Vouched = f.key
		return p.Trusted(trust)
	}
	return nil
}

// second asks the file of --second-key for the second person's key.
func (f *verifyFlags) second(cmd *cobra.Command, p *proof.Proof) error {
	trust, err := readTrust(cmd, "second-key", f.secondKey, f.revoked)
	if err != nil {
		return err
	}
	return p.Countersigned(trust)
}

// notRevoked fails when the key is on the list of --revoked.
func (f *verifyFlags) notRevoked(cmd *cobra.Command, p *proof.Proof) error {
	if f.revoked == "" {
		return nil
	}
	list, err := readNamed(cmd, "revoked", f.revoked, maxListFile)
	if err != nil {
		return err
	}
	ids, err := envelope.ParseRevoked(list)
	if err != nil {
		return usage(err)
	}
	return p.NotRevoked(ids)
}

func (f *verifyFlags) follows(cmd *cobra.Command, p *proof.Proof) error {
	old, err := readReport(cmd, f.previous)
	if err != nil {
		return err
	}
	if old.proof == nil || p.Report == nil {
		return usage(errors.New("--previous: both have to be signed reports; neither the JSON alone nor the text of a QR code names the report before it"))
	}
	return p.Follows(old.proof)
}

func (v *verdictOf) print(out io.Writer) {
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(out, "%-12s%s\n", label, strings.Join(strings.Fields(text), " "))
		}
	}
	line("serial:", v.Serial)
	line("verdict:", v.Verdict)
	line("report:", v.Kind)
	line("node:", v.Hostname)
	line("made:", v.Made.UTC().Format("2006-01-02 15:04:05 UTC"))
	line("sha256:", v.Digest)
	line("signed by:", "key "+v.KeyID+"; nothing was changed since")
	switch {
	case v.Proven != "":
		line("and by:", "key "+v.Second+"; the one that "+v.Proven+" has")
	case v.Second != "":
		line("and by:", "key "+v.Second+"; not checked; give --second-key")
	}
	if v.Person != "" {
		line("sealed by:", v.SealedBy+", and "+v.Person+" as the second person")
	}
	line("follows:", v.Previous)
	if v.Follows != "" {
		line("", "which is the report in "+v.Follows)
	}
	if v.Vouched != "" {
		text := "the one that " + v.Vouched + " has"
		if v.Earlier {
			text += ", an earlier key of this serial number"
		}
		line("key:", text)
	}
}
