package kubetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Status is an API server's answer that is not an object.
func Status(code int, reason, message string) (int, any) {
	status := "Failure"
	if code < 300 {
		status = "Success"
	}
	return code, map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": status, "code": code, "reason": reason, "message": message,
	}
}

// Refuse writes a Status; for Fault.
func Refuse(w http.ResponseWriter, code int, reason, message string) bool {
	code, body := Status(code, reason, message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
	return true
}

// list returns the objects below a path; one namespace or all.
func (a *API) list(r *http.Request) (int, any) {
	parts := strings.Split(r.URL.Path, "/")
	kind := parts[len(parts)-1]
	prefix := strings.TrimSuffix(r.URL.Path, kind)
	name, byName := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
	var paths []string
	for path := range a.objects {
		below := strings.Split(path, "/")
		fits := strings.HasPrefix(path, prefix) && below[len(below)-2] == kind
		if fits && (!byName || below[len(below)-1] == name) {
			paths = append(paths, path)
		}
	}
	// A name that is not there looks like a kind that is not there: the last part of an object's path is not a plural.
	if len(paths) == 0 && !strings.HasSuffix(kind, "s") {
		return Status(404, "NotFound", "not found")
	}
	if len(paths) == 0 && len(parts) > 3 && parts[len(parts)-2] != "v1" && (len(parts) < 5 || parts[len(parts)-3] != "namespaces") {
		return Status(404, "NotFound", "not found")
	}
	slices.Sort(paths)
	items := []any{}
	for _, path := range paths {
		items = append(items, a.objects[path])
	}
	return 200, map[string]any{"kind": kindOf(kind) + "List", "apiVersion": version(r.URL.Path), "metadata": map[string]any{}, "items": items}
}

// change applies a PUT, a JSON merge patch or a JSON patch of the kinds that kube sends.
func (a *API) change(object map[string]any, r *http.Request) (map[string]any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	var next map[string]any
	copied, _ := json.Marshal(object)
	_ = json.Unmarshal(copied, &next)
	switch r.Header.Get("Content-Type") {
	case "application/merge-patch+json":
		var patch map[string]any
		if err := json.Unmarshal(body, &patch); err != nil {
			return nil, fmt.Errorf("reading the patch: %w", err)
		}
		merge(next, patch)
	case "application/json-patch+json":
		var ops []struct {
			Op, Path string
			Value    any
		}
		if err := json.Unmarshal(body, &ops); err != nil {
			return nil, fmt.Errorf("reading the patch: %w", err)
		}
		for _, op := range ops {
			keys := strings.Split(strings.TrimPrefix(op.Path, "/"), "/")
			at, key := next, strings.NewReplacer("~1", "/", "~0", "~").Replace(keys[len(keys)-1]) // RFC 6901
			for _, k := range keys[:len(keys)-1] {
				at, _ = at[k].(map[string]any)
			}
			if _, there := at[key]; at == nil || !there && op.Op != "add" && key != "resourceVersion" {
				return nil, fmt.Errorf("patching %s: there is none", op.Path)
			}
			if op.Op == "remove" {
				delete(at, key)
			} else {
				at[key] = op.Value
			}
		}
	default:
		next = nil
		if err := json.Unmarshal(body, &next); err != nil {
			return nil, fmt.Errorf("reading the object: %w", err)
		}
	}
	return next, nil
}

func merge(to, patch map[string]any) {
	for key, v := range patch {
		below, isMap := v.(map[string]any)
		old, wasMap := to[key].(map[string]any)
		switch {
		case v == nil:
			delete(to, key)
		case isMap && wasMap:
			merge(old, below)
		case isMap:
			fresh := map[string]any{}
			merge(fresh, below)
			to[key] = fresh
		default:
			to[key] = v
		}
	}
}
