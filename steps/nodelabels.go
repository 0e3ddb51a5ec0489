package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/csr"
	"touchdown/backend/kube"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// siteLabels names the labels that landings gave the node for the site, with what they were before.
const siteLabels = layout.State + "/site-labels.json"

// nodeLabels gives the node the labels by which the site's workloads find it. It runs when the cluster is well, as what starts by a label must
// not start in the middle of the move, and after the node has its last name: another name makes another Node.
type nodeLabels struct {
	Site    *site.Config
	Brought func(file string) bool // whether an earlier landing set any
}

var (
	_ Skipper = (*nodeLabels)(nil)
	_ Planner = (*nodeLabels)(nil)
	_ Undoer  = (*nodeLabels)(nil)
	_ Reader  = (*nodeLabels)(nil)
)

// ID names the step in the journal.
func (*nodeLabels) ID() string { return "node-labels" }

// Title says what the step does.
func (*nodeLabels) Title() message.Text { return message.T("Label the node") }

// Reads names the labels.
func (*nodeLabels) Reads() []string { return []string{"spec.nodeLabels"} }

// Skip applies where the site sets none, and no earlier landing did.
func (s *nodeLabels) Skip() message.Text {
	if len(s.Site.Spec.NodeLabels) > 0 || s.Brought != nil && s.Brought(siteLabels) {
		return message.Text{}
	}
	return message.T("the site sets no labels")
}

// Plan tells the labels that are set, and those of earlier landings that go. It compares them with the current labels where the cluster runs.
func (s *nodeLabels) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	ours := readLabels(node)
	c := node.Kube.Within(formTimeout)
	have := map[string]string{}
	if running, _ := c.Ready(ctx); running {
		_, labels, err := selfLabels(ctx, node, c)
		if err != nil {
			return Plan{}, err
		}
		have = labels
	} else {
		for name, label := range ours {
			have[name] = label.Set
		}
	}
	change := kubelet.Landing{Have: have, Ours: ours}.Change(s.Site.Spec.NodeLabels, have)
	var plan Plan
	for _, name := range slices.Sorted(maps.Keys(change)) {
		old, has := have[name]
		c := Change{What: message.F("Label %s of the node", name), New: message.T("removed: the site config no longer lists it")}
		if has {
			c.Old = labelValue(old)
		}
		if value := change[name]; value != nil {
			if has && *value == old {
				continue
			}
			c.New = labelValue(*value)
		}
		plan.Changes = append(plan.Changes, c)
	}
	return plan, nil
}

// labelValue is a label's value as a person reads it.
func labelValue(value string) message.Text {
	if value == "" {
		return message.T("set, without a value")
	}
	return message.Data(value)
}

// Run sets the labels, and takes back what earlier landings set and the site no longer wants.
func (s *nodeLabels) Run(ctx context.Context, node *backend.Node, report Report) error {
	c, want := node.Kube.WithProgress(report.Progress), s.Site.Spec.NodeLabels
	name, _, err := selfLabels(ctx, node, c)
	if err != nil {
		return err
	}
	var own kubelet.Labels
	err = kubelet.ChangeLabels(ctx, c, name, func(have map[string]string) (map[string]*string, error) {
		landing, err := labelsBefore(node, report, have)
		if err != nil {
			return nil, err
		}
		own = landing.Want(want)
		if err := noteLabels(node, report, own); err != nil {
			return nil, err
		}
		return landing.Change(want, have), nil
	})
	if err != nil {
		return fmt.Errorf("setting the node's labels: %w", err)
	}
	if err := writeLabels(node, own); err != nil {
		return err
	}
	k := check.Check{ID: "node-labels", Title: message.T("Labels of the node"), Status: check.Pass, Observed: message.T("none of the site's"), Source: message.Data("spec.nodeLabels")}
	if len(want) > 0 {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(want)) {
			all = append(all, name+"="+want[name])
		}
		k.Observed = message.Data(strings.Join(all, ", "))
	}
	report.Check(k)
	return nil
}

// Undo puts the labels back that the node had before the job.
func (*nodeLabels) Undo(ctx context.Context, node *backend.Node, report Report) error {
	if _, begun, err := savedAt(report, "labels"); err != nil || !begun {
		return err
	}
	c := node.Kube.WithProgress(report.Progress).Within(undoneFor)
	name, _, err := selfLabels(ctx, node, c)
	if err != nil {
		return err
	}
	var landing kubelet.Landing
	err = kubelet.ChangeLabels(ctx, c, name, func(have map[string]string) (_ map[string]*string, err error) {
		landing, err = labelsBefore(node, report, have)
		return landing.Undo(have), err
	})
	if err != nil {
		return fmt.Errorf("putting the node's labels back: %w", err)
	}
	return writeLabels(node, landing.Ours)
}

// selfLabels are the name of this machine's Node and its labels.
func selfLabels(ctx context.Context, node *backend.Node, c *kube.Cluster) (name string, labels map[string]string, err error) {
	hostname, err := node.Host.Hostname()
	if err != nil {
		return "", nil, fmt.Errorf("reading the node's name: %w", err)
	}
	self, n, err := csr.Self(ctx, c, hostname)
	if err != nil {
		return "", nil, fmt.Errorf("looking for this node: %w", err)
	}
	if n != nil {
		labels = n.Labels
	}
	return self.Node, labels, nil
}

// labelsBefore returns the labels that the job saved before its first change, and those that its runs set. have are the current labels, which
// are saved at the first call.
func labelsBefore(node *backend.Node, report Report, have map[string]string) (landing kubelet.Landing, err error) {
	text, err := json.Marshal(kubelet.Landing{Have: have, Ours: readLabels(node)})
	if err == nil {
		err = report.Save("labels", text) // the first one is kept
	}
	if err == nil {
		text, _, err = savedAt(report, "labels")
	}
	if err == nil {
		err = json.Unmarshal(text, &landing)
	}
	if err != nil {
		return landing, fmt.Errorf("keeping the node's labels: %w", err)
	}
	all, _, err := setLabels(report).all()
	for _, text := range all {
		var set kubelet.Labels
		if err := json.Unmarshal(text, &set); err != nil {
			return landing, fmt.Errorf("reading the labels that were set: %w", err)
		}
		landing.Sets = append(landing.Sets, set)
	}
	return landing, err
}

// setLabels are the labels that each run of the job was about to set.
func setLabels(report Report) series { return series{report, "set"} }

// noteLabels keeps what is about to be set, in the job's records and for later landings. What goes stays among these until it is gone: after a
// cut in between the step must not be skipped.
func noteLabels(node *backend.Node, report Report, own kubelet.Labels) error {
	text, err := json.Marshal(own)
	if err != nil {
		return fmt.Errorf("encoding labels: %w", err)
	}
	all, next, err := setLabels(report).all()
	if err == nil && (len(all) == 0 || !bytes.Equal(all[len(all)-1], text)) {
		err = report.Save(setLabels(report).key(next), text)
	}
	if err != nil {
		return err
	}
	both := maps.Clone(own)
	for name, label := range readLabels(node) {
		if _, again := own[name]; !again {
			both[name] = label
		}
	}
	return writeLabels(node, both)
}

// readLabels are the labels that landings have set; none where their file is damaged, so that what they set stays.
func readLabels(node *backend.Node) (own kubelet.Labels) {
	if !node.Host.Exists(siteLabels) {
		return nil
	}
	text, err := node.Host.ReadFile(siteLabels)
	if err == nil {
		err = json.Unmarshal(text, &own)
	}
	if err != nil {
		node.Log.Warn("the labels that earlier landings set cannot be read, and stay", "error", err)
		return nil
	}
	return own
}

func writeLabels(node *backend.Node, own kubelet.Labels) error {
	text, err := json.Marshal(own)
	if err != nil {
		return fmt.Errorf("encoding labels: %w", err)
	}
	return writeBrought(node, siteLabels, text)
}
