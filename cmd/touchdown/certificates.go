package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// maxChain is the most that is read of a certificate with its chain, or of a key. A chain of ten certificates has some 20 KiB. Chosen.
const maxChain = 1 << 20

// certFlag is a flag of `certificates replace`, and the answer that its file is.
type certFlag struct {
	name, path, usage string
	file              string
}

// replacing is one run of `certificates replace`.
type replacing struct {
	*applyFlags
	certs []*certFlag // each certificate before its key
}

func certificatesCommand(c *common) *cobra.Command {
	return group(&cobra.Command{Use: "certificates", Short: "Replace the certificates of a landed node"}, certificatesReplace(c))
}

func certificatesReplace(c *common) *cobra.Command {
	r := &replacing{applyFlags: &applyFlags{common: c}, certs: []*certFlag{
		{name: "api-cert", path: "spec.apiCert.cert", usage: "certificate for api.NAME.DOMAIN with its chain, PEM"},
		{name: "api-key", path: "spec.apiCert.key", usage: "its private key, PEM"},
		{name: "ingress-cert", path: "spec.ingressCert.cert", usage: "certificate for *.apps.NAME.DOMAIN with its chain, PEM"},
		{name: "ingress-key", path: "spec.ingressCert.key", usage: "its private key, PEM"},
		{name: "ingress-ca", path: "spec.ingressCert.ca", usage: "the CA that signed it, where clients of the cluster do not know it, PEM"},
	}}
	cmd := &cobra.Command{
		Use: "replace", Short: "Put new certificates of the site in the place of those that expire", Args: cobra.NoArgs,
		Long: `Replace gives a landed node new certificates of the site for its API, its web consoles, or both. It is a landing with the answers
of the last one and these files. They are judged first: a certificate that does not fit changes nothing. The work survives a loss of
power, and it ends when the cluster serves the new ones and is well. What is right already is left alone, so that the rest of the
landing changes nothing; the API is away for about a minute where it restarts.

Before the hand-over is accepted, touchdown undo puts back what was before the landing, so neither the old nor the new
certificate. After it, undo puts back what was before this command. Secrets of the landing, such as a key, are wiped with the
hand-over: where both certificates are the site's, give both. Where the answers on the node were edited since, or are those of
a move that was undone, nothing is changed.

A node that has landed is locked; --node NAME, its host name, unlocks it.`,
		Example: `  touchdown certificates replace --api-cert api.pem --api-key api.key --dry-run --node sno-042
  touchdown certificates replace --ingress-cert apps.pem --ingress-key apps.key --node sno-042`,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	for _, f := range r.certs {
		cmd.Flags().StringVar(&f.file, f.name, "", f.usage)
	}
	cmd.Flags().BoolVar(&r.dryRun, "dry-run", false, "only judge the files; nothing is changed")
	cmd.Flags().BoolVar(&r.force, "force", false, "take control from another console")
	cmd.Flags().StringArrayVar(&r.waive, "waive", nil, "CHECK=REASON: take responsibility for a check that does not pass; needs --by")
	cmd.Flags().StringVar(&r.by, "by", "", "who waives")
	r.withdrawFlag(cmd, "")
	r.unlockFlag(cmd)
	c.outputFlag(cmd)
	return cmd
}

func (r *replacing) run(cmd *cobra.Command) error {
	if err := r.checkWaivers(); err != nil {
		return err
	}
	given := map[string]string{}
	for _, f := range r.certs {
		if f.file == "" {
			continue
		}
		text, err := readNamed(cmd, f.name, f.file, maxChain)
		if err != nil {
			return err
		}
		given[f.path] = string(text)
	}
	for i := 0; i < 4; i += 2 {
		if cert, key := r.certs[i], r.certs[i+1]; (cert.file == "") != (key.file == "") {
			return usage(fmt.Errorf("--%s and --%s go together", cert.name, key.name))
		}
	}
	if len(given) == 0 || r.certs[0].file == "" && r.certs[2].file == "" {
		return usage(errors.New("give --api-cert and --api-key, --ingress-cert and --ingress-key, or all of them"))
	}
	a := answers{
		may: func(s *view.Snapshot) error { return mayReplace(s, given) },
		give: func(ctx context.Context, engine session.Session, token string) error {
			for _, f := range r.certs {
				if text, ok := given[f.path]; ok {
					if err := engine.Set(ctx, token, f.path, text); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
	if r.dryRun {
		return r.try(cmd, a)
	}
	return r.work(cmd, a)
}

// try only judges what was given.
func (r *replacing) try(cmd *cobra.Command, a answers) error {
	asJSON, err := r.json()
	if err != nil {
		return err
	}
	s, err := r.client().Snapshot(cmd.Context())
	if err == nil {
		err = a.may(s)
	}
	if err != nil {
		return explainClient(err)
	}
	if asJSON {
		return printJSON(cmd, map[string]any{"cluster": s.Cluster, "fits": true})
	}
	return printText(cmd, "The certificates fit "+s.Cluster+". Nothing was changed.\n")
}

// mayReplace tells why a node cannot take these certificates. What begins is a landing with the answers that the engine has: a person may have
// edited them since the hand-over, or they are those of a move that was undone.
func mayReplace(s *view.Snapshot, given map[string]string) error {
	if s.Life != view.LifeLanded && s.Life != view.LifeMoving {
		return &problem.Problem{
			Code: "CRT-LAND", Summary: message.T("This node has not landed: it has no certificates to replace."),
			Fix: message.T("Give the certificates with the site config, or at the console."),
		}
	}
	if s.Edited {
		return &problem.Problem{
			Code: "CRT-STAY", Summary: message.T("The answers on this node are no longer those that were handed over: more than certificates would change."),
			Fix: message.T("Give the site config of this site, with the new certificates: touchdown apply -f FILE --node NAME."),
		}
	}
	return fitting(s.Cluster, given)
}

// fitting judges certificates for a domain as those of a site config are judged, before the node is touched.
func fitting(domain string, given map[string]string) error {
	cfg := site.New()
	name, base, _ := strings.Cut(domain, ".")
	values := map[string]string{"spec.clusterName": name, "spec.baseDomain": base}
	maps.Copy(values, given)
	for path, value := range values {
		if err := cfg.Set(path, value); err != nil {
			return usage(err)
		}
	}
	errs, _ := cfg.Validate(time.Now())
	errs = slices.DeleteFunc(errs, func(e *site.Error) bool {
		return !strings.HasPrefix(e.Path, "spec.apiCert") && !strings.HasPrefix(e.Path, "spec.ingressCert")
	})
	if err := errs.Err(); err != nil {
		return usage(err)
	}
	return nil
}
