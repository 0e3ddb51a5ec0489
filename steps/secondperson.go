package steps

import (
	"context"
	"errors"
	"path/filepath"

	"touchdown/backend/factory/second"
	"touchdown/backend/host"
	"touchdown/backend/ledger"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/report"
	"touchdown/backend/report/proof"
	"touchdown/steps/site"
)

// secondPerson has a second person sign what the seal rests on, where the factory demands one. The steps of a seal share it.
type secondPerson struct {
	Site *site.Config
	Dir  string        // where the report lies
	Host *host.Machine // nil: nobody is asked for

	written bool // the report of this pass lies there, signed by the node
}

// demanded is what the factory demands; nil where it demands none.
func (s *secondPerson) demanded() (*second.Person, error) {
	if s == nil || s.Host == nil {
		return nil, nil
	}
	return second.Of(s.Host)
}

// fields ask who the two people are. No key is among what is kept: the path of its file is.
func (s *secondPerson) fields() []Field {
	if s == nil || s.Host == nil {
		return nil
	}
	ask := func(path string, place func(*second.Person) *string, check func(string) error) Field {
		return Field{
			Path: path, Kind: Text, Check: check, Beside: true,
			Visible: func() bool { d, err := s.demanded(); return d != nil && err == nil },
			Kept: func() string {
				if d, err := s.demanded(); d != nil && err == nil {
					return *place(d)
				}
				return ""
			},
			Keep: func(value string) error {
				d, err := s.demanded()
				if d == nil || err != nil {
					return err
				}
				*place(d) = value
				d.Agreed = false // it was given for what the command line said
				return d.Keep(s.Host)
			},
		}
	}
	first := ask("seal.first", func(d *second.Person) *string { return &d.First }, second.CheckName)
	first.Label, first.Example = message.T("First person"), "Ben Weber"
	first.Help = message.T("Who runs this list. Report and ledger name both people.")
	other := ask("seal.second", func(d *second.Person) *string { return &d.Name }, nil)
	other.Label, other.Example = message.T("Second person"), "Anna Huber"
	other.Help = message.T("Someone else, who reads the report at the end and signs it.")
	other.Check = func(name string) error {
		if d, err := s.demanded(); err == nil && d != nil && d.First != "" && second.Same(d.First, name) {
			return message.Failed(message.T("is the first person; it takes another one"))
		}
		return second.CheckName(name)
	}
	key := ask("seal.key", func(d *second.Person) *string { return &d.KeyFile }, second.CheckKeyFile)
	key.Label, key.Example = message.T("Key of the second person"), "/run/media/anna/anna.key"
	key.Help = message.T("A file on their stick, which is read when they sign. The node keeps no copy.")
	return []Field{first, other, key}
}

// plan names both people in the review, which refuses two who are not.
func (s *secondPerson) plan() ([]Change, error) {
	d, err := s.demanded()
	if d == nil || err != nil {
		return nil, err
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	return []Change{{What: message.T("Two people for the seal"), New: message.F("%s, and %s, who signs the report at the end", d.First, d.Name)}}, nil
}

// names puts both into a report.
func (s *secondPerson) names(d *report.Document) error {
	is, err := s.demanded()
	if is != nil && err == nil {
		d.SealedBy, d.SecondPerson = is.First, is.Name
	}
	return err
}

// found notes whether the report of this pass is there and signed by the node.
func (s *secondPerson) found(signed bool) {
	if s != nil {
		s.written = signed
	}
}

// The question whether the second person signs, and the answer with which they do.
const (
	secondQuestion = "seal-second"
	secondSigns    = "sign"
)

// sign has the second person sign the report that the node has signed, and tells who stands behind the seal. It refuses a seal without that
// signature. One that the report already has counts, as the power may have failed after it. Who agreed on the command line is not asked, once.
func (s *secondPerson) sign(ctx context.Context, rep Report) (by ledger.Seal, err error) {
	d, p, err := s.open()
	if d == nil || err != nil {
		return by, err
	}
	by, signed := signedBefore(d, p)
	agreed := d.Agreed && stillAgrees(rep.Job())
	switch {
	case signed:
		rep.Say(message.F("The factory report has the signature of %s already.", d.Name))
	case agreed:
		by, err = s.countersign(d, p, rep)
	}
	if d.Agreed { // it is used up, also where it did not count; not before the signature, so that a power cut in between loses nothing
		d.Agreed = false
		err = errors.Join(err, d.Keep(s.Host))
	}
	if signed || agreed || err != nil {
		return by, err
	}
	return s.ask(ctx, d, p, rep)
}

// stillAgrees tells whether the agreement of the command line holds. It was given to the list that began then, with nobody there. Where that
// has failed, or a person has started one at a console, it may be someone else who has it signed, and the report may tell of other things.
func stillAgrees(job report.Job) bool { return !job.Watched && len(job.Problems) == 0 }

// signedBefore tells who stands behind a report that the second person has signed with a key that counts.
func signedBefore(d *second.Person, p *proof.Proof) (by ledger.Seal, signed bool) {
	trust, err := d.Trust()
	if err != nil || p.Countersigned(trust) != nil {
		return by, false
	}
	key, _ := trust.Key(p.Second)
	return ledger.Seal{SealedBy: d.First, SecondPerson: d.Name, SecondKey: key.String()}, true
}

// ask asks the second person until they sign or do not.
func (s *secondPerson) ask(ctx context.Context, d *second.Person, p *proof.Proof, rep Report) (by ledger.Seal, err error) {
	for wrong := (message.Text{}); ; {
		answer, err := rep.Ask(ctx, question(d, p, wrong))
		if err != nil {
			return by, err
		}
		if answer != secondSigns {
			return by, unsigned(d)
		}
		if d, p, err = s.open(); err != nil { // keys and path may be others since
			return by, err
		}
		if d == nil {
			return by, noReport(nil)
		}
		if by, err = s.countersign(d, p, rep); err == nil {
			return by, nil
		}
		if _, policy := s.Site.Spec.Policy.Answers[secondQuestion]; policy { // nobody is there to put it right
			return by, err
		}
		is := problem.From(err)
		wrong = message.F("NOT SIGNED (%s): %s %s", is.Code, is.Summary, is.Fix)
	}
}

// open reads the demand, nil where there is none, and the report that the node has signed in this pass of the list and that names both people.
func (s *secondPerson) open() (*second.Person, *proof.Proof, error) {
	d, err := s.demanded()
	if d == nil || err != nil {
		return nil, nil, err
	}
	if err := d.Check(); err != nil {
		return nil, nil, err
	}
	if !s.written {
		return nil, nil, noReport(nil)
	}
	text, _, err := host.ReadRegular(filepath.Join(s.Dir, report.SignedFile), proof.MaxSigned)
	if err != nil {
		return nil, nil, noReport(err)
	}
	p, err := proof.Open(text)
	if err != nil {
		return nil, nil, err
	}
	if p.Report.SealedBy != d.First || p.Report.SecondPerson != d.Name { // another name was given since
		return nil, nil, noReport(nil)
	}
	return d, p, nil
}

// noReport refuses a seal for want of a report that both can stand behind.
func noReport(why error) error {
	return &problem.Problem{
		Code: "FAC-2RPT", Summary: message.T("There is no factory report of this run that names both people and that the node has signed."), Err: why,
		Fix: message.T("See why the step \"Write the factory report\" left none, fix that, then go back to the answers and start the list again."),
	}
}

// unsigned refuses the seal: the second person has not signed.
func unsigned(d *second.Person) error {
	return &problem.Problem{
		Code: "FAC-2ND", Summary: message.F("This seal needs two people, and %s has not signed the factory report.", d.Name),
		Fix: message.T("Have the second person read the report (touchdown report show) and bring their key. Then retry and choose Sign; headless: touchdown factory --unattended --second-sign FILE."),
	}
}

// question asks the second person to sign. wrong is why they could not, "" the first time.
func question(d *second.Person, p *proof.Proof, wrong message.Text) Question {
	detail := message.F("The factory report says: %s. Read it with touchdown report show; its JSON has the SHA-256 %s.", p.Report.Verdict, p.Digest)
	if d.KeyFile != "" {
		detail = message.F("%s Your key is read from %s when you sign.", detail, d.KeyFile)
	}
	if wrong != (message.Text{}) {
		detail = wrong
	}
	return Question{
		ID: secondQuestion, Text: message.F("%s, do you sign as the second person?", d.Name), Detail: detail,
		Choices: []Choice{{Value: secondSigns, Label: message.T("Sign")}, {Value: "wait", Label: message.T("Not yet")}}, Default: "wait",
	}
}

// countersign adds the signature of the second person to the signed report, and sees that it counts.
func (s *secondPerson) countersign(d *second.Person, p *proof.Proof, rep Report) (by ledger.Seal, err error) {
	key, err := d.Key()
	if err != nil {
		return by, err
	}
	if p, err = p.Alone(); err != nil { // a second signature that does not count
		return by, err
	}
	signed, err := p.Countersign(key)
	if err != nil {
		return by, err
	}
	both, err := proof.Open(signed)
	if err != nil {
		return by, err
	}
	trust, err := d.Trust()
	if err != nil {
		return by, err
	}
	if err := both.Countersigned(trust); err != nil {
		return by, err
	}
	if err := (report.Folder{Dir: s.Dir}).KeepSigned(signed); err != nil {
		return by, err
	}
	rep.Say(message.F("%s signed the factory report as the second person.", d.Name))
	return ledger.Seal{SealedBy: d.First, SecondPerson: d.Name, SecondKey: key.Public().String()}, nil
}
