package steps

import (
	"context"
	"fmt"
	"strings"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/login"
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
func (*siteLogin) Title() string { return "Replace the factory's password" }

// Reads names the policy, and what the kubeconfig is for.
func (*siteLogin) Reads() []string {
	return []string{
		"spec.clusterName", "spec.baseDomain", "spec.additionalTrustBundle", "spec.credentials.kubeadmin", "spec.credentials.show",
		"spec.credentials.kubeconfigDays", "spec.credentials.clusterSecret",
	}
}

// Plan tells what becomes of the password.
func (s *siteLogin) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	change := Change{What: "Password of kubeadmin", Old: "the factory's", New: "a new one, of this node alone"}
	k, err := login.Look(ctx, node.Kube.Within(formTimeout))
	if why := s.unreplaced(k); why != "" && (err == nil || s.Site.Spec.Credentials.Keeps()) {
		change.New = "unchanged. " + why
	}
	plan := Plan{Changes: []Change{change}}
	if s.Site.Spec.Credentials.ClusterSecret {
		plan.Changes = append(plan.Changes, Change{
			What: "Login for a hub", New: "password and kubeconfig in the secret " + login.PublishedRef(s.Site.Domain()).String(),
		})
		plan.Seconds = acceptSeconds
	}
	return plan, nil // an API that does not answer now is asked again before anything is written
}

// Run replaces the password, once, by one that nobody knows: whoever asks for it gets another.
func (s *siteLogin) Run(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	if s.Site.Spec.Credentials.ClusterSecret {
		if _, err := s.give(ctx, node, c, report, handout.Ask{Password: true, Kubeconfig: true}, nil); err != nil {
			return err
		}
		report.Say("The login lies in the cluster, for a hub: %s.", login.PublishedRef(s.Site.Domain()))
	}
	k, err := login.Look(ctx, c)
	if err != nil {
		return err
	}
	ours, err := isOurs(k, report)
	if err != nil {
		return err
	}
	if s.unreplaced(k) == "" && !ours {
		if err := replacePassword(ctx, c, report, login.NewPassword()); err != nil {
			return err
		}
		report.Say("The factory's password of kubeadmin is no longer accepted.")
	}
	report.Check(s.passwordCheck(k))
	return nil
}

// Undo puts the factory's password back. Kubeconfigs that were handed out are no longer accepted.
func (s *siteLogin) Undo(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	domain, published, err := notedAt(report, publishedNote)
	if err != nil {
		return err
	}
	if published {
		if err := login.Unpublish(ctx, c, string(domain)); err != nil {
			return err
		}
	}
	if _, err := newOriginals(report).restore(ctx, c); err != nil {
		return err
	}
	ours, err := signers(report)
	if err != nil {
		return err
	}
	return login.Revoke(ctx, c, ours)
}

// unreplaced is why the password of kubeadmin is left alone; "" when it is not. Where the cluster's owner has another login,
// kubeadmin is the owner's to keep or to remove.
func (s *siteLogin) unreplaced(k login.Kubeadmin) string {
	switch {
	case k.Gone != "":
		return k.Gone
	case s.Site.Spec.Credentials.Keeps():
		return "The site config keeps the factory's password of kubeadmin."
	}
	return k.Others
}

func (s *siteLogin) passwordCheck(k login.Kubeadmin) Check {
	ch := Check{ID: "kubeadmin", Title: "The factory's password", Status: check.Pass, Observed: "no longer accepted"}
	switch {
	case k.Gone == "" && s.Site.Spec.Credentials.Keeps():
		ch.Status, ch.Observed = check.Skip, s.unreplaced(k)
	case k.Gone != "":
		ch.Status, ch.Observed = check.Skip, k.Gone+" No password is made."
	case k.Others != "":
		ch.Status, ch.Observed = check.Warn, k.Others+" The factory's password of kubeadmin is still accepted."
		ch.Fix = "When an administrator can log in there: oc delete secret kubeadmin -n kube-system"
	}
	return ch
}

// What the step notes.
const (
	hashNote      = "kubeadmin" // the hash of the password that we gave kubeadmin last
	signersNote   = "signers"   // SHA-256 of the signers of our kubeconfigs, one a line
	publishedNote = "published" // the domain whose Secret we wrote
)

// signers are those of the kubeconfigs that this job made.
func signers(report Report) ([]string, error) {
	noted, _, err := notedAt(report, signersNote)
	return strings.Fields(string(noted)), err
}

// isOurs tells whether this job has given kubeadmin its password.
func isOurs(k login.Kubeadmin, report Report) (bool, error) {
	noted, there, err := notedAt(report, hashNote)
	return there && k.Is(string(noted)), err
}

// replacePassword notes the hash first: a password that was written and not noted would be replaced again.
func replacePassword(ctx context.Context, c *kube.Cluster, report Report, password string) error {
	hash, err := login.Hash(password)
	if err != nil {
		return err
	}
	if err := report.Note(hashNote, []byte(hash)); err != nil {
		return fmt.Errorf("noting the new password's hash: %w", err)
	}
	if err := login.Replace(ctx, c, hash, newOriginals(report).save); err != nil {
		return fmt.Errorf("replacing the password of kubeadmin: %w", err)
	}
	return nil
}
