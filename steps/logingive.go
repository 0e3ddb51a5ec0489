package steps

import (
	"cmp"
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/domain"
	"touchdown/backend/hub"
	"touchdown/backend/kube"
	"touchdown/backend/login"
	"touchdown/backend/message"
	"touchdown/steps/handout"
)

// Give makes what the people of the site are given; last is what they were given before, nil when nobody knows it any more. What is
// still good stays: whoever asks twice reads the same password twice. What was given before an error is returned with it.
func (s *siteLogin) Give(ctx context.Context, node *backend.Node, report Report, ask handout.Ask, last *handout.LogIn) (*handout.LogIn, error) {
	if ask.Password && !s.Site.Spec.Credentials.Show {
		ask.Password = false
		got, err := s.give(ctx, node, node.Kube, report, ask, last)
		if got != nil {
			got.Why, got.Password = message.T("The site config does not let consoles show the password (spec.credentials.show)."), ""
		}
		return got, err
	}
	return s.give(ctx, node, node.Kube, report, ask, last)
}

// give also returns what was given before an error.
func (s *siteLogin) give(ctx context.Context, node *backend.Node, c *kube.Cluster, report Report, ask handout.Ask, last *handout.LogIn) (*handout.LogIn, error) {
	d := s.Site.Domain()
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

func (s *siteLogin) givePassword(ctx context.Context, c *kube.Cluster, report Report, got *handout.LogIn, last string) error {
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

func (s *siteLogin) giveKubeconfig(ctx context.Context, node *backend.Node, c *kube.Cluster, report Report, got *handout.LogIn, d, last string) error {
	until, server, works, err := login.Works(ctx, c, d, []byte(last))
	if err != nil {
		return err
	}
	if works {
		got.Kubeconfig, got.Until, got.Server = last, until, server
		return nil
	}
	k, err := login.NewKubeconfig(ctx, c, login.Want{
		Domain: d, Life: s.Site.Spec.Credentials.Life(), Trust: []byte(s.Site.Spec.AdditionalTrustBundle), Now: node.Now(),
		Note: func(signer string) error { return noteLine(report, signersNote, signer) },
	}, newOriginals(report).save)
	if err != nil {
		return fmt.Errorf("making a kubeconfig: %w", err)
	}
	got.Kubeconfig, got.Until, got.Server = string(k.Text), k.Until, k.Server
	return nil
}

// publish keeps the Secret for a hub in line with what was given, where the site config wants one.
func (s *siteLogin) publish(ctx context.Context, c *kube.Cluster, report Report, d string, has hub.Login, got handout.LogIn) error {
	want := has
	if got.Password != "" {
		want.Password = got.Password
	}
	if got.Kubeconfig != "" {
		want.Kubeconfig = got.Kubeconfig
	}
	if !s.Site.Spec.Credentials.ClusterSecret || want == has {
		return nil
	}
	if err := noteLine(report, publishedNote, d); err != nil {
		return fmt.Errorf("noting the secret for a hub: %w", err)
	}
	return hub.PutLogin(ctx, c, d, login.User, want)
}
