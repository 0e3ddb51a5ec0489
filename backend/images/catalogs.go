package images

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/kube"
)

// catalogs are the catalog sources whose pods are among those that did not come back, by who may change them. OLM gives a pod the
// pull policy Always when the image of its catalog source is named by a tag (operator-framework/operator-lifecycle-manager,
// pkg/lib/image); a default one is put back by the marketplace operator whenever it is changed.
func (w Watching) catalogs(ctx context.Context, notReady []string) (market, tagged []string) {
	if len(notReady) == 0 {
		return nil, nil
	}
	c := w.Kube.Within(rehearsalPoll * 5)
	all, _, err := c.List(ctx, kube.Ref{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "catalogsources"})
	if err != nil {
		return nil, nil // the advice is poorer without it; what did not come back is known
	}
	for _, source := range all {
		meta, _ := source["metadata"].(map[string]any)
		notes, _ := meta["annotations"].(map[string]any)
		spec, _ := source["spec"].(map[string]any)
		image, _ := spec["image"].(string)
		name := fmt.Sprintf("%v/%v", meta["namespace"], meta["name"])
		if image == "" || strings.Contains(image, "@") || !slices.ContainsFunc(notReady, func(pod string) bool { return strings.HasPrefix(pod, name+"-") }) {
			continue
		}
		if notes["operatorframework.io/managed-by"] == "marketplace-operator" {
			market = append(market, name)
		} else {
			tagged = append(tagged, name)
		}
	}
	slices.Sort(market)
	slices.Sort(tagged)
	return market, tagged
}

// advice says what to do about a rehearsal that did not pass.
func (r Rehearsal) advice() string {
	var all []string
	others := len(r.Missed) > 0
	for _, pod := range r.NotReady {
		others = others || !slices.ContainsFunc(slices.Concat(r.Market, r.Tagged), func(name string) bool { return strings.HasPrefix(pod, name+"-") })
	}
	if len(r.Market) > 0 {
		all = append(all, "Switch the default catalog sources off with `touchdown factory bake`: the pull policy of their pods cannot be set.")
	}
	if len(r.Tagged) > 0 {
		all = append(all, "Name the image of "+strings.Join(r.Tagged, ", ")+" by its digest in the CatalogSource.")
	}
	if others {
		all = append(all, "Bring the registry within reach and run `touchdown images seed`.")
	}
	return strings.Join(append(all, "Then rehearse again."), " ")
}
