package steps_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/steps"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// refusing answers no.
type refusing struct {
	*direct
	asked int
	check check.Check
}

func (r *refusing) Ask(context.Context, steps.Question) (string, error) {
	r.asked++
	return "no", nil
}

func (r *refusing) Check(c check.Check) { r.check = c }

// TestDefaultCatalogSources: those of a freshly installed cluster are switched off, one that is switched on by name too, and are
// all there again after unbake. A no is kept and told.
func TestDefaultCatalogSources(t *testing.T) {
	l := newLand(t, bench.Options{})
	ctx := wait.Within(t, 90*time.Second)
	hubs := l.node.Kube.Config.OperatorHubs()
	const installed = `{"spec":{"disableAllDefaultSources":null,"sources":[{"name":"redhat-operators","disabled":false}]}}`
	if _, err := hubs.Patch(ctx, "cluster", types.MergePatchType, []byte(installed), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	catalogs := func() (names []string, pods int) {
		t.Helper()
		names, err := factory.DefaultCatalogs(ctx, l.node.Kube)
		if err != nil {
			t.Fatal(err)
		}
		list, err := l.node.Kube.Core.Pods("openshift-marketplace").List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return names, len(list.Items)
	}
	on := func() {
		t.Helper()
		wait.Until(t, "the default catalog sources", func(context.Context) error {
			if names, pods := catalogs(); len(names) != 4 || pods != 4 {
				return fmt.Errorf("%q, %d pods", names, pods)
			}
			return nil
		})
	}
	on()
	step := &steps.BakeCatalogs{}
	folder := &direct{host: l.host.Machine, dir: "/state"}

	no := &refusing{direct: folder.of(step)}
	for range 2 {
		if err := step.Run(ctx, l.node, no); err != nil {
			t.Fatal(err)
		}
	}
	if no.asked != 1 || no.check.Status != check.Warn || !strings.Contains(no.check.Fix.String(), "factory bake") {
		t.Errorf("asked %d times, %+v", no.asked, no.check)
	}
	if err := folder.forget(); err != nil {
		t.Fatal(err)
	}
	kept := &refusing{direct: folder.of(step)}
	if err := (&steps.BakeCatalogs{Keep: true}).Run(ctx, l.node, kept); err != nil || kept.asked > 0 || kept.check.Status != check.Warn {
		t.Errorf("kept: %v, asked %d times, %+v", err, kept.asked, kept.check)
	}

	plan, err := step.Plan(ctx, l.node)
	if err != nil || len(plan.Changes) != 1 || !strings.Contains(plan.Changes[0].Old.String(), "redhat-operators") {
		t.Errorf("%+v, %v", plan, err)
	}
	before, err := hubs.Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := step.Run(ctx, l.node, folder.of(step)); err != nil {
		t.Fatal(err)
	}
	if names, pods := catalogs(); len(names) > 0 || pods > 0 {
		t.Errorf("left: %q, %d pods", names, pods)
	}
	writes := l.node.Kube.Writes()
	if err := step.Run(ctx, l.node, folder.of(step)); err != nil || l.node.Kube.Writes() != writes {
		t.Errorf("again: %v, %d writes more", err, l.node.Kube.Writes()-writes)
	}
	for range 2 {
		if err := step.Undo(ctx, l.node, folder.of(step)); err != nil {
			t.Fatal(err)
		}
	}
	after, err := hubs.Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil || after.Spec.DisableAllDefaultSources || !slices.Equal(after.Spec.Sources, before.Spec.Sources) {
		t.Errorf("OperatorHub was %+v and is %+v, %v", before.Spec, after.Spec, err)
	}
	on()
}
