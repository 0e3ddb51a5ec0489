package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend/kube"
)

// Relabel gives a Node the labels of the one that it was before, but for those that the kubelet and the cluster set themselves.
func Relabel(ctx context.Context, c *kube.Cluster, name string, labels map[string]string) error {
	return ChangeLabels(ctx, c, name, func(have map[string]string) (map[string]*string, error) {
		missing := map[string]*string{}
		for key, value := range labels {
			if _, has := have[key]; !has {
				missing[key] = &value
			}
		}
		return missing, nil
	})
}

// ChangeLabels changes some labels of a Node and leaves the others to whoever set them. change sees the labels as they are, and returns what
// some of them become: nil for none. It may be called again when someone else was faster.
func ChangeLabels(ctx context.Context, c *kube.Cluster, name string, change func(have map[string]string) (map[string]*string, error)) error {
	return c.Do(ctx, "labelling node "+name, func(ctx context.Context) error {
		node, err := c.Core.Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		labels, err := change(node.Labels)
		if err != nil {
			return err
		}
		maps.DeleteFunc(labels, func(key string, value *string) bool { return equal(of(node.Labels, key), value) })
		if len(labels) == 0 {
			return nil
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": node.ResourceVersion, "labels": labels}})
		if err != nil {
			return fmt.Errorf("encoding labels: %w", err)
		}
		_, err = c.Core.Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
}

// Label is a label that a landing has set.
type Label struct {
	Set string  `json:"set"`
	Was *string `json:"was,omitempty"` // what it was before any landing set it; nil: there was none
}

// Labels are those that landings have set, by name.
type Labels map[string]Label

// holds tells whether a label of the Node is as a landing has set it. What someone else has changed since is theirs.
func (l Labels) holds(name string, have map[string]string) bool {
	label, is := l[name]
	value, there := have[name]
	return is && there && value == label.Set
}

// Landing is what a job has to know of the Node's labels.
type Landing struct {
	Have map[string]string `json:"have"` // all labels of the Node before its first change
	Ours Labels            `json:"ours"` // what earlier landings had set then
	Sets []Labels          `json:"-"`    // what each run of the job was about to set, in their order
}

// Want is what landings have set once the Node has the labels that the site wants.
func (l Landing) Want(site map[string]string) Labels {
	own := Labels{}
	for name, value := range site {
		was := of(l.Have, name)
		if l.Ours.holds(name, l.Have) {
			was = l.Ours[name].Was
		}
		own[name] = Label{value, was}
	}
	return own
}

// Change tells what labels become that are as in have, so that the Node has those that the site wants: what landings have set and the site
// no longer wants is again what it was before.
func (l Landing) Change(site, have map[string]string) map[string]*string {
	change := map[string]*string{}
	for _, own := range append([]Labels{l.Ours}, l.Sets...) {
		for name, label := range own {
			if own.holds(name, have) {
				change[name] = label.Was
			}
		}
	}
	for name, value := range site {
		change[name] = &value
	}
	return change
}

// Undo tells what labels become that are as in have, so that they are as they were before the job.
func (l Landing) Undo(have map[string]string) map[string]*string {
	change := map[string]*string{}
	for name, label := range l.Ours { // the job has taken it back
		if equal(of(have, name), label.Was) {
			change[name] = of(l.Have, name)
		}
	}
	for _, own := range l.Sets {
		for name := range own {
			if own.holds(name, have) {
				change[name] = of(l.Have, name)
			}
		}
	}
	return change
}

// of is a label's value; nil where there is none.
func of(labels map[string]string, name string) *string {
	if value, there := labels[name]; there {
		return &value
	}
	return nil
}

func equal(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
