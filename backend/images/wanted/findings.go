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
	if who := always(i.Needers); len(who) > 0 {
		i.PullAlways = true
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
			add(kind, fmt.Sprintf("%s cannot be the name of an image.", list(names)), "Correct it where it is needed.")
		case "short-name":
			add(kind, list(names)+" names no registry, so OpenShift does not pull it.", "Write the registry before it, where it is needed.")
		}
	}
	slices.SortFunc(i.Findings, byKind)
}

func byKind(a, b Finding) int { return strings.Compare(a.Kind, b.Kind) }

// always names who pulls at each start. Ended ones do not start again.
func always(needers []Needer) []string {
	var who []string
	for _, n := range needers {
		if n.Always != "" && n.Need != Spare {
			who = append(who, n.Who+" ("+n.Always+")")
		}
	}
	return distinct(who)
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
