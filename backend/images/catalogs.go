package images

import (
	"context"
	"slices"
	"strings"

	"touchdown/backend/message"
)

// catalogs are the catalog sources whose pods are among those that did not come back and never will without a registry: market are
// the default ones, tagged are others.
func (w watching) catalogs(ctx context.Context, notReady []string) (market, tagged []string) {
	if len(notReady) == 0 {
		return nil, nil
	}
	all, err := w.kube.Within(rehearsalPoll * 5).CatalogSources(ctx)
	if err != nil {
		return nil, nil // the advice is poorer without it; what did not come back is known
	}
	for _, source := range all {
		switch {
		case !source.Tagged || !slices.ContainsFunc(notReady, source.Serves):
		case source.Default:
			market = append(market, source.Namespace+"/"+source.Name)
		default:
			tagged = append(tagged, source.Namespace+"/"+source.Name)
		}
	}
	slices.Sort(market)
	slices.Sort(tagged)
	return market, tagged
}

// advice says what to do about a rehearsal that did not pass.
func (r Rehearsal) advice() message.Text {
	var all []message.Text
	others := len(r.Missed) > 0
	for _, pod := range r.NotReady {
		others = others || !slices.ContainsFunc(slices.Concat(r.Market, r.Tagged), func(name string) bool { return strings.HasPrefix(pod.String(), name+"-") })
	}
	if len(r.Market) > 0 {
		all = append(all, message.T("Switch the default catalog sources off with `touchdown factory bake`: the pull policy of their pods cannot be set."))
	}
	if len(r.Tagged) > 0 {
		all = append(all, message.F("Name the image of %s by its digest in the CatalogSource.", strings.Join(r.Tagged, ", ")))
	}
	if others {
		all = append(all, message.T("Make the registry reachable, then run `touchdown images seed`."))
	}
	return message.Join(append(all, message.T("Then rehearse again.")), " ")
}
