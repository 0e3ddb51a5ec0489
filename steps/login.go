package steps

import (
	"context"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hub"
	"touchdown/backend/kube"
	"touchdown/backend/login"
	"touchdown/backend/message"
	"touchdown/steps/handout"
	"touchdown/steps/site"
)

// siteLogin takes the factory's password of kubeadmin out of force. Nobody knows the one that comes in its place.
type siteLogin struct{ Site *site.Config }

var (
	_ Planner = (*siteLogin)(nil)
	_ Undoer  = (*siteLogin)(nil)
	_ Reader  = (*siteLogin)(nil)
)

// ID names the step in the journal.
func (*siteLogin) ID() string { return "login" }

// Title says what the step does.
func (*siteLogin) Title() message.Text { return message.T("Replace the factory's password") }

// Reads names the policy, and what the kubeconfig is for.
func (*siteLogin) Reads() []string {
	return []string{
		"spec.clusterName", "spec.baseDomain", "spec.additionalTrustBundle", "spec.credentials.kubeadmin",
		"spec.credentials.kubeconfigDays", "spec.credentials.clusterSecret",
	}
}

// Plan tells what becomes of the password.
func (s *siteLogin) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	change := Change{What: message.T("Password of kubeadmin"), Old: message.T("the factory's"), New: message.T("a new one, of this node alone")}
	k, err := login.Look(ctx, node.Kube.Within(formTimeout))
	switch {
	case k.Ours():
		change.Old, change.New = message.T("of this node alone"), message.T("unchanged. Touchdown has replaced the factory's before.")
	case k.Changed():
		change.Old = message.T("the owner's")
	}
	if why := s.giver().unreplaced(k); why.String() != "" && (err == nil || s.Site.Spec.Credentials.Keeps()) {
		change.New = message.F("unchanged. %s", why)
	}
	plan := Plan{Changes: []Change{change}}
	if s.Site.Spec.Credentials.ClusterSecret {
		plan.Changes = append(plan.Changes, Change{
			What: message.T("Cluster credentials for a hub"), New: message.F("password and kubeconfig in the secret %s", hub.LoginRef(s.Site.Domain()).String()),
		})
		plan.Seconds = acceptSeconds
	}
	return plan, nil // an API that does not answer now is asked again before anything is written
}

// Run replaces the password, once, by one that nobody knows: whoever asks for it gets another.
func (s *siteLogin) Run(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	if s.Site.Spec.Credentials.ClusterSecret {
		if _, err := s.giver().give(ctx, node, c, report, handout.Ask{Password: true, Kubeconfig: true}, nil); err != nil {
			return err
		}
		report.Say(message.F("The cluster credentials for a hub are in the secret %s.", hub.LoginRef(s.Site.Domain())))
	}
	k, err := login.Look(ctx, c)
	if err != nil {
		return err
	}
	if s.giver().unreplaced(k).String() == "" && !k.Ours() {
		if err := replacePassword(ctx, c, report, login.NewPassword()); err != nil {
			return err
		}
		report.Say(message.T("The factory's password of kubeadmin is no longer accepted."))
	}
	report.Check(s.passwordCheck(k))
	return nil
}

// Give makes what the people of the site are given; last is what they were given before, nil when it is not known any more. What is
// still good stays: whoever asks twice reads the same password twice. What was given before an error is returned with it.
func (s *siteLogin) Give(ctx context.Context, node *backend.Node, report Report, ask handout.Ask, last *handout.LogIn) (*handout.LogIn, error) {
	if ask.Password && !s.Site.Spec.Credentials.Show {
		ask.Password = false
		got, err := s.giver().give(ctx, node, node.Kube, report, ask, last)
		if got != nil {
			got.Why, got.Password = message.T("The site config does not let consoles show the password (spec.credentials.show)."), ""
		}
		return got, err
	}
	return s.giver().give(ctx, node, node.Kube, report, ask, last)
}

func (s *siteLogin) giver() giver { return giver{s.Site} }

// Undo puts the factory's password back. Kubeconfigs that were handed out are no longer accepted.
func (s *siteLogin) Undo(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	domains, err := notedLines(report, publishedNote)
	if err != nil {
		return err
	}
	for _, domain := range domains {
		if err := hub.RemoveLogin(ctx, c, domain); err != nil {
			return err
		}
	}
	told := map[kube.Ref]bool{}
	_, err = newOriginals(report).restoreBy(func(ref kube.Ref, original []byte) (bool, error) {
		changed, removed, err := login.Restore(ctx, c, original)
		if removed && !told[ref] {
			told[ref] = true
			report.Say(message.F("%s is not put back: the cluster's owner has removed it.", ref))
		}
		return changed, err
	})
	if err != nil {
		return err
	}
	ours, err := notedLines(report, signersNote)
	if err != nil {
		return err
	}
	return login.Revoke(ctx, c, ours)
}

func (s *siteLogin) passwordCheck(k login.Kubeadmin) check.Check {
	ch := check.Check{ID: "kubeadmin", Title: message.T("The factory's password"), Status: check.Pass, Observed: message.T("no longer accepted")}
	switch {
	case k.Gone.String() == "" && s.Site.Spec.Credentials.Keeps():
		ch.Status, ch.Observed = check.Skip, s.giver().unreplaced(k)
	case k.Gone.String() != "":
		ch.Status, ch.Observed = check.Skip, message.F("%s No password is made.", k.Gone)
	case k.Changed():
		ch.Status, ch.Observed = check.Skip, message.F("%s It stays.", s.giver().unreplaced(k))
	case k.Others.String() != "" && !k.Ours():
		ch.Status, ch.Observed = check.Warn, message.F("%s The factory's password of kubeadmin is still accepted.", k.Others)
		ch.Fix = message.T("When an administrator can log in there: oc delete secret kubeadmin -n kube-system")
	}
	return ch
}
