package manifests

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRefusals: what no repeat cures, and what is not a judgement, in the words of the API server.
func TestRefusals(t *testing.T) {
	held409 := apierrors.NewApplyConflict([]metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.a", Message: `conflict with "helm"`}, {Type: "Other", Field: ".x"},
	}, "Apply failed with 1 conflict")
	if got := held(fmt.Errorf("applying: %w", held409)); len(got) != 1 || got[0] != `.data.a: conflict with "helm"` {
		t.Errorf("held by %q", got)
	}
	internal := func(text string) error { return apierrors.NewInternalError(errors.New(text)) }
	for _, c := range []struct {
		err             error
		malformed, mute bool
	}{
		{held409, false, false},
		{internal("failed to create typed patch object (a; v1): .b: field not declared in schema"), true, false},
		{internal("failed to convert new object (a; v1) to proper version: x"), true, false},
		{internal("etcdserver: leader changed"), false, false},
		{errors.New("failed to create typed patch object"), false, false}, // not the API's
		{apierrors.NewBadRequest(`admission webhook "a.example.com" does not support dry run`), false, true},
		{apierrors.NewBadRequest("no"), false, false},
		{nil, false, false},
	} {
		if malformed(c.err) != c.malformed || mute(c.err) != c.mute || !errors.Is(c.err, held409) && held(c.err) != nil {
			t.Errorf("%v: malformed %v, mute %v, held %v", c.err, malformed(c.err), mute(c.err), held(c.err))
		}
	}
}

// TestMarked: the annotation is beside those of the object, which itself stays as it was.
func TestMarked(t *testing.T) {
	tree := map[string]any{"metadata": map[string]any{"name": "a", "annotations": map[string]any{"x": "y"}}}
	o := Object{Name: "a", Tree: tree}
	notes := o.marked()["metadata"].(map[string]any)["annotations"].(map[string]any)
	if len(notes) != 2 || notes["x"] != "y" {
		t.Errorf("annotations %v", notes)
	}
	if left := tree["metadata"].(map[string]any)["annotations"].(map[string]any); len(left) != 1 {
		t.Errorf("the object has %v", left)
	}
	for apiVersion, want := range map[string]string{"v1": "/api/v1/namespaces/b/pods/a", "apps/v1": "/apis/apps/v1/namespaces/b/pods/a"} {
		if got := place(Object{APIVersion: apiVersion, Namespace: "b", Name: "a"}, "pods"); got.path != want || got.Version != "v1" {
			t.Errorf("%s: %+v", apiVersion, got)
		}
	}
}
