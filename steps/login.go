package steps

import (
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/login"
	"touchdown/steps/site"
)

// siteLogin takes the factory's password of kubeadmin out of force. Nobody knows the one that comes in its place.
type siteLogin struct{ Site *site.Config }

var (
	_ Skipper = (*siteLogin)(nil)
	_ Planner = (*siteLogin)(nil)
	_ Undoer  = (*siteLogin)(nil)
	_ Reader  = (*siteLogin)(nil)
)

// ID names the step in the journal.
func (*siteLogin) ID() string { return "log-in" }

// Title says what the step does.
func (*siteLogin) Title() string { return "Replace the factory's password" }

// Reads names the policy.
func (*siteLogin) Reads() []string { return []string{"spec.credentials.kubeadmin"} }

// Skip applies where the factory's password stays.
func (s *siteLogin) Skip() string {
	if s.Site.Spec.Credentials.Keeps() {
		return "the site config keeps the factory's password of kubeadmin"
	}
	return ""
}

// Plan tells what becomes of the password.
func (s *siteLogin) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	change := Change{What: "Password of kubeadmin", Old: "the factory's", New: "a new one, of this node alone"}
	k, err := login.Look(ctx, node.Kube.Within(formTimeout))
	if why := unreplaced(k); err == nil && why != "" {
		change.New = "unchanged. " + why
	}
	return Plan{Changes: []Change{change}}, nil // an API that does not answer now is asked again before anything is written
}

// Run replaces the password, once.
func (s *siteLogin) Run(ctx context.Context, node *backend.Node, report Report) error {
	c := withProgress(node.Kube, report)
	k, err := login.Look(ctx, c)
	if err != nil {
		return err
	}
	report.Check(passwordCheck(k))
	if unreplaced(k) != "" || isOurs(k, report) {
		return nil
	}
	if err := replacePassword(ctx, c, report, login.NewPassword()); err != nil {
		return err
	}
	report.Say("The factory's password of kubeadmin is no longer accepted.")
	return nil
}

// Undo puts the factory's password back.
func (s *siteLogin) Undo(ctx context.Context, node *backend.Node, report Report) error {
	_, err := originals{report}.restore(ctx, withProgress(node.Kube, report))
	return err
}

// unreplaced is why the password of kubeadmin is left alone; "" when it is not. Where the cluster's owner has another log-in,
// kubeadmin is the owner's to keep or to remove.
func unreplaced(k login.Kubeadmin) string {
	if k.Gone != "" {
		return k.Gone
	}
	return k.Others
}

func passwordCheck(k login.Kubeadmin) Check {
	ch := Check{ID: "kubeadmin", Title: "The factory's password", Status: check.Pass, Observed: "no longer accepted"}
	switch {
	case k.Gone != "":
		ch.Status, ch.Observed = check.Skip, k.Gone+" No password is made."
	case k.Others != "":
		ch.Status, ch.Observed = check.Warn, k.Others+" The factory's password of kubeadmin is still accepted."
		ch.Fix = "When an administrator can log in there: oc delete secret kubeadmin -n kube-system"
	}
	return ch
}

// hashNote keeps the hash of the password that we gave kubeadmin last.
const hashNote = "kubeadmin"

// isOurs tells whether this job has given kubeadmin its password.
func isOurs(k login.Kubeadmin, report Report) bool {
	noted, err := report.Noted(hashNote)
	return err == nil && k.Is(string(noted))
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
	if err := login.Replace(ctx, c, hash, originals{report}.save); err != nil {
		return fmt.Errorf("replacing the password of kubeadmin: %w", err)
	}
	return nil
}
