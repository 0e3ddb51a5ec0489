package steps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend"
	"touchdown/backend/domain"
	"touchdown/backend/hub"
	"touchdown/backend/kube"
	"touchdown/backend/login"
	"touchdown/backend/message"
	"touchdown/steps/handout"
	"touchdown/steps/site"
)

// giver makes what the people of a site are given.
type giver struct{ site *site.Config }

// give also returns what was given before an error.
func (s giver) give(ctx context.Context, node *backend.Node, c *kube.Cluster, report Report, ask handout.Ask, last *handout.LogIn) (*handout.LogIn, error) {
	d := s.site.Domain()
	if d == "" {
		now, err := domain.Read(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("reading what the cluster is called: %w", err)
		}
		d = now.Domain
	}
	published, err := hub.ReadLogin(ctx, c, d)
	if err != nil {
		return nil, err
	}
	if last == nil {
		last = &handout.LogIn{}
	}
	got := &handout.LogIn{User: login.User, API: "https://" + domain.API(d) + ":6443", Console: consoleOf(ctx, c, d)}
	if ask.Kubeconfig {
		if err := s.giveKubeconfig(ctx, node, c, report, got, d, cmp.Or(last.Kubeconfig, published.Kubeconfig)); err != nil {
			return nil, err
		}
	}
	if ask.Password { // last: nobody can make it again, so the least may fail after it
		if err := s.givePassword(ctx, c, report, got, cmp.Or(last.Password, published.Password)); err != nil {
			return got, err
		}
	}
	return got, s.publish(ctx, c, report, d, published, *got)
}

// consoleOf is the address of the web console, "" where the cluster has none.
func consoleOf(ctx context.Context, c *kube.Cluster, d string) string {
	hosts, err := domain.Names{Domain: d}.Hosts(ctx, c)
	if err != nil {
		return "https://" + domain.Console(d)
	}
	if h := hosts.Console(); !h.Absent {
		return "https://" + h.Name
	}
	return ""
}

func (s giver) givePassword(ctx context.Context, c *kube.Cluster, report Report, got *handout.LogIn, last string) error {
	k, err := login.Look(ctx, c)
	if err != nil {
		return err
	}
	if got.Why = s.unreplaced(k); got.Why != (message.Text{}) {
		return nil
	}
	if got.Password = last; last != "" && k.Accepts(last) {
		return nil
	}
	got.Password = login.NewPassword()
	return replacePassword(ctx, c, report, got.Password)
}

func (s giver) giveKubeconfig(ctx context.Context, node *backend.Node, c *kube.Cluster, report Report, got *handout.LogIn, d, last string) error {
	until, server, works, err := login.Works(ctx, c, d, []byte(last))
	if err != nil {
		return err
	}
	if works {
		got.Kubeconfig, got.Until, got.Server = last, until, server
		return nil
	}
	k, err := login.NewKubeconfig(ctx, c, login.Want{
		Domain: d, Life: s.site.Spec.Credentials.Life(), Trust: []byte(s.site.Spec.AdditionalTrustBundle), Now: node.Now(),
		Note: func(signer string) error { return noteLine(report, signersNote, signer) },
	}, newOriginals(report).save)
	if err != nil {
		return fmt.Errorf("making a kubeconfig: %w", err)
	}
	got.Kubeconfig, got.Until, got.Server = string(k.Text), k.Until, k.Server
	return nil
}

// publish keeps the Secret for a hub in line with what was given, where the site config wants one.
func (s giver) publish(ctx context.Context, c *kube.Cluster, report Report, d string, has hub.Login, got handout.LogIn) error {
	want := has
	if got.Password != "" {
		want.Password = got.Password
	}
	if got.Kubeconfig != "" {
		want.Kubeconfig = got.Kubeconfig
	}
	if !s.site.Spec.Credentials.ClusterSecret || want == has {
		return nil
	}
	if err := noteLine(report, publishedNote, d); err != nil {
		return fmt.Errorf("noting the secret for a hub: %w", err)
	}
	return hub.PutLogin(ctx, c, d, login.User, want)
}

// unreplaced is why the password of kubeadmin is left alone; "" when it is not. Where the cluster's owner has another login,
// kubeadmin is the owner's to keep or to remove.
func (s giver) unreplaced(k login.Kubeadmin) message.Text {
	switch {
	case k.Gone.String() != "":
		return k.Gone
	case s.site.Spec.Credentials.Keeps():
		return message.T("The site config keeps the factory's password of kubeadmin.")
	case k.Changed():
		return message.T("The cluster's owner has changed the password of kubeadmin.")
	}
	return k.Others
}

// What the step notes.
const (
	signersNote   = "signers"   // SHA-256 of the signers of our kubeconfigs, one a line
	publishedNote = "published" // the domains whose Secrets we wrote, one a line
)

// notedLines are the lines of a note.
func notedLines(report Report, key string) ([]string, error) {
	noted, _, err := notedAt(report, key)
	return strings.Fields(string(noted)), err
}

// noteLine adds a line to a note that does not have it.
func noteLine(report Report, key, line string) error {
	lines, err := notedLines(report, key)
	if err != nil || slices.Contains(lines, line) {
		return err
	}
	return report.Note(key, []byte(strings.Join(append(lines, line), "\n")))
}

func replacePassword(ctx context.Context, c *kube.Cluster, report Report, password string) error {
	hash, err := login.Hash(password)
	if err != nil {
		return err
	}
	if err := login.Replace(ctx, c, hash, newOriginals(report).save); err != nil {
		return fmt.Errorf("replacing the password of kubeadmin: %w", err)
	}
	return nil
}
