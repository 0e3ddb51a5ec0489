package kube

import (
	"encoding/json"
	"fmt"
	"reflect"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// normal brings what a Go program put into a tree to the types that JSON has.
func normal(tree map[string]any) (map[string]any, error) {
	b, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("encoding a change: %w", err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("decoding a change: %w", err)
	}
	return out, nil
}

// mergePatch returns the JSON merge patch (RFC 7386) that turns from into to.
func mergePatch(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for key, old := range from {
		now, kept := to[key]
		if !kept {
			patch[key] = nil
			continue
		}
		a, aMap := old.(map[string]any)
		b, bMap := now.(map[string]any)
		switch {
		case reflect.DeepEqual(old, now):
		case aMap && bMap:
			patch[key] = mergePatch(a, b)
		default:
			patch[key] = now
		}
	}
	for key, now := range to {
		if _, had := from[key]; !had {
			patch[key] = now
		}
	}
	return patch
}

// lost returns a field that the patch set and the object does not have as set: an older OpenShift prunes in silence
// what its CRDs do not know.
func lost(patch, object map[string]any, path string) string {
	for key, want := range patch {
		got, there := object[key]
		at := path + "." + key
		switch want := want.(type) {
		case nil:
			continue // a default may have come in its place
		case map[string]any:
			below, ok := got.(map[string]any)
			if !ok {
				return at
			}
			if f := lost(want, below, at); f != "" {
				return f
			}
		case []any:
			// Defaults may have been filled into its entries.
			if list, ok := got.([]any); !ok || len(list) != len(want) {
				return at
			}
		default:
			if !there || !reflect.DeepEqual(want, got) {
				return at
			}
		}
	}
	return ""
}

// revert takes back out of current what led from original to ours, and leaves what others did since.
func revert(original, ours, current any) any {
	if reflect.DeepEqual(current, ours) {
		return original
	}
	switch now := current.(type) {
	case map[string]any:
		was, wasMap := original.(map[string]any)
		we, weMap := ours.(map[string]any)
		if weMap && (wasMap || original == nil) {
			return revertMap(was, we, now)
		}
	case []any:
		was, wasList := original.([]any)
		we, weList := ours.([]any)
		if weList && (wasList || original == nil) {
			return revertList(was, we, now)
		}
	}
	return current
}

func revertMap(original, ours, current map[string]any) map[string]any {
	out := map[string]any{}
	for key, now := range current {
		was, had := original[key]
		we, wrote := ours[key]
		switch {
		case had == wrote && reflect.DeepEqual(was, we), !wrote: // not ours
			out[key] = now
		case !had && reflect.DeepEqual(now, we): // ours, and new
		default:
			out[key] = revert(was, we, now)
		}
	}
	for key, was := range original {
		_, wrote := ours[key]
		_, there := current[key]
		if !wrote && !there { // we took it away
			out[key] = was
		}
	}
	return out
}

// revertList goes by the entries' names, so that an entry that someone added beside ours stays. An entry without a name that we
// changed in its place has its original there again: in some lists the place counts.
func revertList(original, ours, current []any) []any {
	was, we := byName(original), byName(ours)
	instead := map[string]any{}
	for i := range min(len(original), len(ours)) {
		if _, kept := we[entryName(original[i])]; !kept && was[entryName(ours[i])] == nil {
			instead[entryName(ours[i])] = original[i]
		}
	}
	out, seen := []any{}, map[string]bool{}
	for _, now := range current {
		name := entryName(now)
		seen[name] = true
		before, had := was[name]
		wrote, did := we[name]
		switch {
		case !did || !reflect.DeepEqual(now, wrote): // someone else's, or changed by someone else since
			out = append(out, now)
		case had:
			out = append(out, before)
		case instead[name] != nil:
			seen[entryName(instead[name])] = true
			out = append(out, instead[name])
		}
	}
	for _, before := range original {
		name := entryName(before)
		if _, did := we[name]; !did && !seen[name] {
			out = append(out, before)
		}
	}
	return out
}

func byName(list []any) map[string]any {
	out := map[string]any{}
	for _, entry := range list {
		out[entryName(entry)] = entry
	}
	return out
}

// entryName is what makes an entry of a list the same one after it was changed.
func entryName(entry any) string {
	if m, ok := entry.(map[string]any); ok {
		if name, ok := m["name"].(string); ok {
			return fmt.Sprintf("%v/%s", m["namespace"], name)
		}
	}
	b, err := json.Marshal(entry)
	if err != nil {
		return fmt.Sprint(entry)
	}
	return string(b)
}
