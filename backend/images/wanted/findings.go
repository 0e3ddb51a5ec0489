package wanted

import (
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/check"
)

// find says what is wrong with an image.
func (at *group) find() {
	i := &at.image
	add := func(kind string, text, fix string) {
		f := Finding{Kind: kind, Status: check.Warn, Text: text, Fix: fix}
		if i.BootCritical {
			f.Status = check.Fail
		}
		i.Findings = append(i.Findings, f)
	}
	who, market := always(i.Needers)
	i.PullAlways = len(who)+len(market) > 0
	if len(market) > 0 {
		add("pull-always", list(market)+" asks the registry at each start; without a registry it does not start, whatever is in the store.",
			"Switch the default catalog sources off, as `touchdown factory bake` does; the pull policy of their pods cannot be set.")
	}
	if len(who) > 0 {
		add("pull-always", list(who)+" asks the registry at each start; without a registry it does not start, whatever is in the store.",
			"Set imagePullPolicy: IfNotPresent there, and name the image by its digest; for a CatalogSource the digest is enough.")
	}
	for kind, names := range map[string][]string{"other-name": at.other, "bad-name": at.badNames, "short-name": at.short} {
		if names = distinct(names); len(names) == 0 {
			continue
		}
		switch kind {
		case "other-name":
			add(kind, "It is here, but not under the name "+list(names)+", and CRI-O goes by the name too.", "Pull it under that name; nothing is fetched twice.")
		case "bad-name":
			add(kind, fmt.Sprintf("%s cannot be the name of an image.", list(names)), "Correct it where the image is named.")
		case "short-name":
			add(kind, list(names)+" names no registry, so OpenShift does not pull it.", "Write the registry before it, where it is needed.")
		}
	}
	slices.SortFunc(i.Findings, byKind)
}

func byKind(a, b Finding) int { return strings.Compare(a.Kind, b.Kind) }

// always names who pulls at each start, and apart from them the default catalog sources, which cannot be told not to. Ended
// ones do not start again.
func always(needers []Needer) (who, market []string) {
	markets := map[string]bool{}
	for _, n := range needers {
		if n.Market {
			markets[n.Who] = true
		}
	}
	for _, n := range needers {
		switch said := n.Who + " (" + n.Always + ")"; {
		case n.Always == "" || n.Need == Spare:
		case markets[n.Who]: // OLM's pods belong to their catalog source
			market = append(market, said)
		default:
			who = append(who, said)
		}
	}
	return distinct(who), distinct(market)
}

func distinct(all []string) []string {
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}

// list names the first three.
func list(all []string) string {
	const most = 3
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}
