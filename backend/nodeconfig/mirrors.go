package nodeconfig

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// mirrorName is what our objects are called.
const mirrorName = "touchdown-site"

// contacted is the policy of a source where none is written.
const contacted = "AllowContactingSource"

func digestSets(name string) kube.Ref {
	return kube.Ref{Group: "config.openshift.io", Version: "v1", Resource: "imagedigestmirrorsets", Name: name}
}

func tagSets(name string) kube.Ref {
	return kube.Ref{Group: "config.openshift.io", Version: "v1", Resource: "imagetagmirrorsets", Name: name}
}

func policies(name string) kube.Ref {
	return kube.Ref{Group: "operator.openshift.io", Version: "v1alpha1", Resource: "imagecontentsourcepolicies", Name: name}
}

// mirrors adds the site's and then removes the factory's, in this order, so that no image is without a place at any time.
func (w Want) mirrors(ctx context.Context, c Reader) ([]Change, error) {
	var all []Change
	if len(w.DigestMirrors)+len(w.TagMirrors) > 0 {
		objects, err := w.mirrorObjects(ctx, c)
		if err != nil {
			return nil, err
		}
		if all, err = compared(ctx, c, objects...); err != nil {
			return nil, err
		}
	}
	if !w.RemoveFactoryMirrors {
		return all, w.clash(ctx, c)
	}
	var kept []string
	for _, m := range w.all() {
		kept = append(kept, m.Mirrors...)
	}
	for _, kind := range []kube.Ref{digestSets(""), tagSets(""), policies("")} {
		found, _, err := c.List(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			if name(o) != mirrorName {
				ref := kind
				ref.Name = name(o)
				all = append(all, removal(ref, o, kept))
			}
		}
	}
	return all, nil
}

func (w Want) all() []Mirror { return slices.Concat(w.DigestMirrors, w.TagMirrors) }

// clash refuses a policy that another object of the cluster, which stays, contradicts: the Machine Config Operator then renders no mirrors
// at all, and this wait would never end.
func (w Want) clash(ctx context.Context, c Reader) error {
	if len(w.all()) == 0 {
		return nil
	}
	for _, kind := range []kube.Ref{digestSets(""), tagSets(""), policies("")} {
		found, _, err := c.List(ctx, kind)
		if err != nil {
			return err
		}
		for _, o := range found {
			if name(o) == mirrorName {
				continue
			}
			for source, policy := range policiesOf(o) {
				if !slices.ContainsFunc(w.all(), func(m Mirror) bool { return m.Source == source && cmp.Or(m.Policy, contacted) != policy }) {
					continue
				}
				return &problem.Problem{
					Code:    "MRR-PLCY",
					Summary: message.F("The mirrors of %s have the policy %s in this cluster's %s, and another one in the site config. OpenShift would use no mirrors at all.", source, policy, name(o)),
					Fix:     message.T("Write the same mirrorSourcePolicy in the site config, or removeFactoryMirrors: true."),
				}
			}
		}
	}
	return nil
}

func (w Want) mirrorObjects(ctx context.Context, c Reader) ([]object, error) {
	_, newer, err := c.List(ctx, digestSets(""))
	if err != nil {
		return nil, err
	}
	if !newer {
		return w.olderObject()
	}
	var objects []object
	if len(w.DigestMirrors) > 0 {
		objects = append(objects, mirrorObject(digestSets(mirrorName), "ImageDigestMirrorSet", "imageDigestMirrors", w.DigestMirrors))
	}
	if len(w.TagMirrors) > 0 {
		objects = append(objects, mirrorObject(tagSets(mirrorName), "ImageTagMirrorSet", "imageTagMirrors", w.TagMirrors))
	}
	return objects, nil
}

// olderObject is for a cluster from before 4.13, whose one kind knows neither tags nor a policy.
func (w Want) olderObject() ([]object, error) {
	var lacks message.Text
	if len(w.TagMirrors) > 0 {
		lacks = message.T("mirrors for images named by tag")
	}
	for _, m := range w.DigestMirrors {
		if m.Policy == "NeverContactSource" {
			lacks = message.T("mirrors whose source is never contacted")
		}
	}
	if lacks != (message.Text{}) {
		return nil, &problem.Problem{
			Code:    "MRR-LACK",
			Summary: message.F("This version of OpenShift does not know %s.", lacks),
			Fix:     message.T("Leave them out of the site config."),
		}
	}
	return []object{mirrorObject(policies(mirrorName), "ImageContentSourcePolicy", "repositoryDigestMirrors", w.DigestMirrors)}, nil
}

func mirrorObject(ref kube.Ref, kind, field string, mirrors []Mirror) object {
	var list []any
	var lines []message.Text
	for _, m := range mirrors {
		places := make([]any, len(m.Mirrors))
		for i, p := range m.Mirrors {
			places[i] = p
		}
		item := map[string]any{"source": m.Source, "mirrors": places}
		if m.Policy != "" && kind != "ImageContentSourcePolicy" {
			item["mirrorSourcePolicy"] = m.Policy
		}
		list = append(list, item)
		lines = append(lines, message.F("%s from %s", m.Source, strings.Join(m.Mirrors, ", ")))
	}
	ch := Change{
		What: message.T("Images by digest"), New: message.Join(lines, "; "), File: registriesFile, Renders: true,
		In: func(r Config) bool { return namesAll(r.Files[registriesFile], mirrors) },
	}
	if kind == "ImageTagMirrorSet" {
		ch.What = message.T("Images by tag")
	}
	return object{Change: ch, ref: ref, kind: kube.New{Kind: kind}, change: func(spec map[string]any) error {
		spec[field] = list
		return nil
	}}
}

// namesAll tells whether a registries.conf names each source and mirror.
func namesAll(conf string, mirrors []Mirror) bool {
	for _, m := range mirrors {
		for _, place := range append([]string{m.Source}, m.Mirrors...) {
			if !strings.Contains(conf, `"`+place+`"`) {
				return false
			}
		}
	}
	return true
}

// removal takes one of the factory's objects away. kept are the mirrors that the site names too.
func removal(ref kube.Ref, o map[string]any, kept []string) Change {
	places := placesOf(o)
	return Change{
		What: message.T("Mirrors of the factory"), Old: message.F("%s (%s)", ref.Name, strings.Join(places, ", ")), New: message.T("removed"),
		File: registriesFile, Renders: true, Pending: true,
		In: func(r Config) bool {
			return !slices.ContainsFunc(places, func(p string) bool {
				return !slices.Contains(kept, p) && strings.Contains(r.Files[registriesFile], `"`+p+`"`)
			})
		},
		Write: func(ctx context.Context, c *kube.Cluster, save kube.Save) (bool, error) {
			return c.Delete(ctx, ref, save)
		},
	}
}

// entriesOf returns the items of an object of any of the kinds.
func entriesOf(o map[string]any) (entries []map[string]any) {
	for _, field := range []string{"imageDigestMirrors", "imageTagMirrors", "repositoryDigestMirrors"} {
		list, _ := below(o, "spec")[field].([]any)
		for _, item := range list {
			if entry, ok := item.(map[string]any); ok {
				entries = append(entries, entry)
			}
		}
	}
	return entries
}

// policiesOf returns the policies of an object by source.
func policiesOf(o map[string]any) map[string]string {
	found := map[string]string{}
	for _, entry := range entriesOf(o) {
		source, _ := entry["source"].(string)
		policy, _ := entry["mirrorSourcePolicy"].(string)
		found[source] = cmp.Or(policy, contacted)
	}
	return found
}

// placesOf returns the mirrors that an object of any of the kinds names.
func placesOf(o map[string]any) []string {
	var out []string
	for _, entry := range entriesOf(o) {
		mirrors, _ := entry["mirrors"].([]any)
		for _, m := range mirrors {
			if place, ok := m.(string); ok && !slices.Contains(out, place) {
				out = append(out, place)
			}
		}
	}
	return out
}
