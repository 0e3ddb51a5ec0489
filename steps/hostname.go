package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"touchdown/backend"
	"touchdown/backend/csr"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/kubelet"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// siteHostname gives the node another name: its Node object goes, the machine reboots, and the kubelet comes back as a new node. It
// is for those who must: the cluster's own name and addresses do not need it.
type siteHostname struct {
	Site  *site.Config
	Limit time.Duration // for the node to come back; zero: 20 minutes
}

var (
	_ Skipper      = (*siteHostname)(nil)
	_ Planner      = (*siteHostname)(nil)
	_ UndoPreparer = (*siteHostname)(nil)
	_ Abandoner    = (*siteHostname)(nil)
	_ Reader       = (*siteHostname)(nil)
)

// ID names the step in the journal.
func (*siteHostname) ID() string { return "hostname" }

// Title says what the step does.
func (*siteHostname) Title() message.Text { return message.T("Rename the node") }

// Reads names what decides on the name.
func (*siteHostname) Reads() []string {
	return []string{"spec.hostname", "spec.policy.allowHostnameChange"}
}

// Skip applies where the name stays.
func (s *siteHostname) Skip() message.Text {
	switch {
	case s.Site.Spec.Hostname == "":
		return message.T("the node keeps its name")
	case !s.Site.Spec.Policy.AllowHostnameChange:
		return message.T("the policy does not allow another name for the node (spec.policy.allowHostnameChange)")
	}
	return message.Text{}
}

// Plan warns that undo does not take the name back.
func (s *siteHostname) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	now, err := kubelet.StaticName(node.Host)
	if err != nil {
		return Plan{}, fmt.Errorf("reading the node's name: %w", err)
	}
	if now == s.Site.Spec.Hostname {
		return Plan{}, nil
	}
	return Plan{
		Seconds: rebootSeconds + apiSeconds,
		Changes: []Change{{What: message.T("Name of the node"), Old: message.Data(now), New: message.Data(s.Site.Spec.Hostname)}},
		Disturbances: []Disturbance{
			{What: message.T("reboot"), Cause: message.T("the kubelet registers the node under its new name"), Seconds: rebootSeconds},
			{What: message.T("API outage"), Cause: message.T("etcd and the control plane take the node's new name"), Seconds: 300},
		},
		Permanent: []message.Text{
			message.T("The node keeps its new name when everything else is undone."),
			message.T("What names the node itself keeps the old name: local volumes (LVMS, LSO), performance profiles, SR-IOV node states."),
		},
	}, nil
}

// renaming is what must be known again after the reboot.
type renaming struct {
	From, To string            // From is the name that the cluster knew the node by when To was set
	Boot     string            // in which the name was set
	Labels   map[string]string // of the node called From
	Past     []string          `json:",omitempty"` // the job's earlier names: a Node may still be there under each
	In       bool              `json:",omitempty"` // the cluster has the node as To, with its labels
}

// renamed is the note for one more name. The former name and its labels stay those of the first attempt until the machine has started with
// the name that this gave it: before that the cluster never saw it, and the Node with the labels may be gone.
func (s *siteHostname) renamed(ctx context.Context, c *kube.Cluster, now, boot string, r renaming) (renaming, error) {
	to := s.Site.Spec.Hostname
	next := renaming{From: r.From, To: to, Boot: boot, Labels: r.Labels}
	if r.From == "" || now == r.To && boot != r.Boot {
		_, n, err := csr.Self(ctx, c, now)
		if err != nil {
			return r, fmt.Errorf("reading the node's labels: %w", err)
		}
		next.From, next.Labels = now, map[string]string{}
		if n == nil || !r.In { // a node that has come back only just now lacks labels
			maps.Copy(next.Labels, r.Labels)
		}
		if n != nil {
			next.From = n.Name
			maps.Copy(next.Labels, n.Labels)
		}
	}
	for _, name := range append(r.Past, r.From, r.To) {
		if name != "" && name != next.From && name != to && !slices.Contains(next.Past, name) {
			next.Past = append(next.Past, name)
		}
	}
	return next, nil
}

const renameNote = "rename"

// Run renames before the reboot, and after it lets the node in again.
func (s *siteHostname) Run(ctx context.Context, node *backend.Node, report Report) error {
	if !host.HasKubelet(node.Host) {
		report.Say(message.T("This machine is not the cluster's node; its name stays."))
		return nil
	}
	now, boot, r, err := renamingAt(node, report)
	if err != nil {
		return err
	}
	switch {
	case now != s.Site.Spec.Hostname:
		return s.rename(ctx, node, report, now, boot, r)
	case r.To == "":
		return nil // it had this name from the start
	}
	return s.end(ctx, node, report, now, boot, r)
}

// renamingAt tells the name that the machine has, the boot that it is in, and how far a renaming came.
func renamingAt(node *backend.Node, report Report) (now, boot string, r renaming, err error) {
	if now, err = kubelet.StaticName(node.Host); err != nil {
		return "", "", r, fmt.Errorf("reading the node's name: %w", err)
	}
	if r, err = noted(report); err != nil {
		return "", "", r, err
	}
	if boot, err = node.Host.BootID(); err != nil {
		return "", "", r, fmt.Errorf("reading the boot id: %w", err)
	}
	return now, boot, r, nil
}

// end ends a renaming with the name that the machine has now.
func (s *siteHostname) end(ctx context.Context, node *backend.Node, report Report, now, boot string, r renaming) error {
	if r.To != now { // another name was begun and not set: the kubelet may be stopped, and the Node gone
		r.Past, r.To = append(r.Past, r.To), now
		if err := note(report, r); err != nil {
			return err
		}
	}
	if boot == r.Boot {
		return &Reboot{message.F("the node takes its new name %s", now)}
	}
	return s.readmit(ctx, node, report, r)
}

// Half tells of a node that left the cluster and is not back with its labels.
func (*siteHostname) Half(report Report) (message.Text, error) {
	if r, err := noted(report); err != nil || r.To == "" || r.In {
		return message.Text{}, err
	}
	return message.T("the node left the cluster to take another name, and does not have its labels again"), nil
}

// Abandon lets the node in again under the name that it has now.
func (s *siteHostname) Abandon(ctx context.Context, node *backend.Node, report Report) error {
	now, boot, r, err := renamingAt(node, report)
	if err != nil {
		return err
	}
	return s.end(ctx, node, report, now, boot, r)
}

// rename keeps the Node's labels before the Node goes.
func (s *siteHostname) rename(ctx context.Context, node *backend.Node, report Report, now, boot string, r renaming) error {
	c := node.Kube.WithProgress(report.Progress)
	r, err := s.renamed(ctx, c, now, boot, r)
	if err != nil {
		return err
	}
	if err := note(report, r); err != nil {
		return err
	}
	report.Say(message.F("The node %s becomes %s.", r.From, r.To))
	err = kubelet.Rename(ctx, node.Host, c, r.From, r.To, func(_ kube.Ref, original []byte) error {
		return report.Save("node", original)
	})
	if err != nil {
		return fmt.Errorf("renaming the node: %w", err)
	}
	return &Reboot{message.F("the node takes its new name %s", r.To)}
}

// readmit approves the new node's requests, and gives it the old one's labels.
func (s *siteHostname) readmit(ctx context.Context, node *backend.Node, report Report, r renaming) error {
	c := node.Kube.WithProgress(report.Progress)
	// While it was stopped, the kubelet may have written its old Node once more.
	for _, name := range append(r.Past, r.From) {
		if name == r.To {
			continue
		}
		if err := kubelet.Forget(ctx, c.Within(s.limit()), name, func(kube.Ref, []byte) error { return nil }); err != nil {
			return fmt.Errorf("removing the old node: %w", err)
		}
	}
	if err := (&nodeCSRs{Limit: s.limit()}).Run(ctx, node, report); err != nil {
		return err
	}
	if err := kubelet.Relabel(ctx, c, r.To, r.Labels); err != nil {
		return fmt.Errorf("giving the node its labels: %w", err)
	}
	if !r.In {
		r.In = true
		if err := note(report, r); err != nil {
			return err
		}
	}
	report.Say(message.F("The node is %s now.", r.To))
	return nil
}

func (s *siteHostname) limit() time.Duration {
	if s.Limit == 0 {
		return 20 * time.Minute
	}
	return s.Limit
}

func note(report Report, r renaming) error {
	b, err := json.Marshal(r)
	if err == nil {
		err = report.Note(renameNote, b)
	}
	if err != nil {
		return fmt.Errorf("noting the new name: %w", err)
	}
	return nil
}

func noted(report Report) (r renaming, err error) {
	b, ok, err := notedAt(report, renameNote)
	if ok {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return r, fmt.Errorf("reading the noted name: %w", err)
	}
	return r, nil
}
