package kube

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Mark is an annotation that tells what we wrote into an object.
type Mark struct{ Key, Value string }

// ChangeMarked is ChangePart that writes an annotation together with the part. Restore takes the annotation back only when it takes
// the part back: where someone changed the part since, the annotation still tells that it is not as it was installed.
func ChangeMarked(ctx context.Context, c *Cluster, ref Ref, part string, mark Mark, change func(map[string]any) error, save Save) (bool, error) {
	return edit{ref: ref, part: part, mark: mark, change: change}.on(ctx, c, save)
}

// in tells whether the object carries the mark. No mark is in each object.
func (m Mark) in(object *unstructured.Unstructured) bool {
	return m.Key == "" || object.GetAnnotations()[m.Key] == m.Value
}

// over is what Restore needs to know of the mark on this object; nil for no mark.
func (m Mark) over(object *unstructured.Unstructured) *savedMark {
	if m.Key == "" {
		return nil
	}
	was, had := object.GetAnnotations()[m.Key]
	return &savedMark{Key: m.Key, Had: had, Original: was, Ours: m.Value}
}

// savedMark is an annotation before and after our change.
type savedMark struct {
	Key      string `json:"key"`
	Had      bool   `json:"had,omitempty"`
	Original string `json:"original,omitempty"`
	Ours     string `json:"ours"`
}

// undo are the operations that put the annotation back; none where it is not ours.
func (m *savedMark) undo(object *unstructured.Unstructured) []op {
	if m == nil || object.GetAnnotations()[m.Key] != m.Ours {
		return nil
	}
	path := "/metadata/annotations/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(m.Key) // RFC 6901
	if m.Had {
		return []op{{"replace", path, m.Original}}
	}
	return []op{{Op: "remove", Path: path}}
}
