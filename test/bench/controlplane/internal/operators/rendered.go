package operators

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ignition merges what the pool is rendered from into one document, as the machine config operator does: files by path, the last
// name wins; SSH keys together; and the files that it makes of the cluster's own objects.
func (in poolInput) ignition() ([]byte, error) {
	files := map[string]any{}
	add := func(path, content string, mode int) {
		files[path] = map[string]any{
			"path": path, "mode": mode, "overwrite": true,
			"contents": map[string]any{"source": "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(content))},
		}
	}
	add("/var/lib/kubelet/config.json", string(in.pullSecret), 0o600)
	if conf := in.registriesConf(); conf != "" {
		add("/etc/containers/registries.conf", conf, 0o644)
	}
	if in.proxy.HTTPProxy+in.proxy.HTTPSProxy != "" {
		add("/etc/mco/proxy.env", fmt.Sprintf("HTTP_PROXY=%s\nHTTPS_PROXY=%s\nNO_PROXY=%s\n", in.proxy.HTTPProxy, in.proxy.HTTPSProxy, in.proxy.NoProxy), 0o644)
	}
	if in.trust != "" {
		add("/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt", in.trust, 0o600)
	}
	var keys []any
	units := map[string]map[string]any{}
	for _, name := range in.names() {
		config, _ := in.specs[name]["config"].(map[string]any)
		storage, _ := config["storage"].(map[string]any)
		for _, f := range list(storage["files"]) {
			files[fmt.Sprint(f["path"])] = f
		}
		systemd, _ := config["systemd"].(map[string]any)
		for _, u := range list(systemd["units"]) {
			mergeUnit(units, u)
		}
		passwd, _ := config["passwd"].(map[string]any)
		for _, u := range list(passwd["users"]) {
			more, _ := u["sshAuthorizedKeys"].([]any)
			for _, k := range more {
				if !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
	}
	var all []any
	for _, path := range slices.Sorted(maps.Keys(files)) {
		all = append(all, files[path])
	}
	doc := map[string]any{"ignition": map[string]any{"version": "3.4.0"}, "storage": map[string]any{"files": all}}
	if len(units) > 0 {
		var sorted []any
		for _, name := range slices.Sorted(maps.Keys(units)) {
			sorted = append(sorted, units[name])
		}
		doc["systemd"] = map[string]any{"units": sorted}
	}
	if len(keys) > 0 {
		doc["passwd"] = map[string]any{"users": []any{map[string]any{"name": "core", "sshAuthorizedKeys": keys}}}
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encoding the rendered configuration: %w", err)
	}
	return data, nil
}

// mergeUnit merges a unit as Ignition does: what is said later holds, drop-ins by name.
func mergeUnit(units map[string]map[string]any, u map[string]any) {
	name := fmt.Sprint(u["name"])
	have := units[name]
	if have == nil {
		units[name] = maps.Clone(u)
		return
	}
	dropins := list(have["dropins"])
	for _, d := range list(u["dropins"]) {
		dropins = slices.DeleteFunc(dropins, func(old map[string]any) bool { return old["name"] == d["name"] })
		dropins = append(dropins, d)
	}
	for key, v := range u {
		have[key] = v
	}
	if len(dropins) > 0 {
		all := make([]any, len(dropins))
		for i, d := range dropins {
			all[i] = d
		}
		have["dropins"] = all
	}
}

// registriesConf is containers-registries.conf(5) for the mirrors of all three kinds.
func (in poolInput) registriesConf() string {
	var conf strings.Builder
	for _, spec := range in.mirrors {
		for _, field := range []string{"imageDigestMirrors", "imageTagMirrors", "repositoryDigestMirrors"} {
			how := "digest-only"
			if field == "imageTagMirrors" {
				how = "tag-only"
			}
			for _, entry := range list(spec[field]) {
				fmt.Fprintf(&conf, "[[registry]]\n  prefix = \"\"\n  location = %q\n", entry["source"])
				if entry["mirrorSourcePolicy"] == "NeverContactSource" {
					conf.WriteString("  blocked = true\n")
				}
				places, _ := entry["mirrors"].([]any)
				for _, p := range places {
					fmt.Fprintf(&conf, "\n  [[registry.mirror]]\n    location = %q\n    pull-from-mirror = %q\n", p, how)
				}
				conf.WriteString("\n")
			}
		}
	}
	return conf.String()
}

// list returns the groups of a list of groups.
func list(v any) []map[string]any {
	items, _ := v.([]any)
	var out []map[string]any
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
