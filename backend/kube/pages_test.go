package kube_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
)

// A list comes in pages, begins again when it grew too old in between, and a kind that is not served is not a fault.
func TestPages(t *testing.T) {
	a, c := kubetest.New(t)
	var asked []string
	expire := false
	a.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		q := r.URL.Query()
		if r.URL.Path == "/apis/g.example/v1/things" {
			http.NotFound(w, r)
			return true
		}
		if r.URL.Path != "/api/v1/pods" {
			return false
		}
		asked = append(asked, q.Get("limit")+" "+q.Get("continue")+" "+q.Get("labelSelector"))
		w.Header().Set("Content-Type", "application/json")
		page := func(next string, names ...string) {
			items := ""
			for i, n := range names {
				if i > 0 {
					items += ","
				}
				items += `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + n + `"}}`
			}
			fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"continue":%q},"items":[%s]}`, next, items)
		}
		switch {
		case q.Get("limit") == "":
			page("", "a", "b", "c", "d")
		case q.Get("continue") == "":
			page("two", "a", "b")
		case expire:
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
		default:
			page("", "c")
		}
		return true
	}
	names := func() (all []string) {
		served, err := c.Pages(t.Context(), kube.Ref{Version: "v1", Resource: "pods"}, "x=y", func(o map[string]any) {
			all = append(all, o["metadata"].(map[string]any)["name"].(string))
		})
		if err != nil || !served {
			t.Errorf("served %v, %v", served, err)
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"a", "b", "c"}) || !slices.Equal(asked, []string{"500  x=y", "500 two x=y"}) {
		t.Errorf("%v by %q", got, asked)
	}
	expire = true
	if got := names(); !slices.Equal(got, []string{"a", "b", "a", "b", "c", "d"}) {
		t.Errorf("after the list grew too old: %v", got)
	}
	served, err := c.Pages(t.Context(), kube.Ref{Group: "g.example", Version: "v1", Resource: "things"}, "", func(map[string]any) { t.Error("an object of nothing") })
	if served || err != nil {
		t.Errorf("a kind that is not there: served %v, %v", served, err)
	}
}
