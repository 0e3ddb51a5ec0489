package kube_test

import (
	"context"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
)

// TestLostAnswers: a change whose answer does not arrive was made all the same, and the repeated call finds it done. Who waits for what the
// cluster makes of a change has to know that there was one.
func TestLostAnswers(t *testing.T) {
	set := func(ctx context.Context, c *kube.Cluster, save kube.Save) (bool, error) {
		return c.ChangeSpec(ctx, kube.Config("apiservers"), func(spec map[string]any) error { spec["certs"] = []any{"ours"}; return nil }, save)
	}
	create := func(ctx context.Context, c *kube.Cluster, save kube.Save) (bool, error) {
		return c.PutSecret(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}, Type: "Opaque", Data: map[string][]byte{"k": []byte("v")}}, save)
	}
	remove := func(ctx context.Context, c *kube.Cluster, save kube.Save) (bool, error) {
		return c.Delete(ctx, kube.ConfigMap("ns", "c"), save)
	}
	const (
		again   = "the answer does not arrive, and the change is asked for again"
		stopped = "the answer does not arrive, and the work is stopped"
		refusal = "the change is refused"
		faster  = "someone else was faster with the same"
		soon    = "the API is too busy, and someone else makes the change meanwhile"
	)
	type change = func(context.Context, *kube.Cluster, kube.Save) (bool, error)
	for name, changes := range map[string]struct{ before, lost change }{
		"a change": {nil, set}, "an object that is made": {nil, create}, "an object that is removed": {nil, remove},
		"a change that is put back": {set, nil}, "an object that is removed again": {create, nil}, "an object that is made again": {remove, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, how := range []string{again, stopped, refusal, faster, soon} {
				api, c := kubetest.New(t)
				api.Put(server, `{"apiVersion":"config.openshift.io/v1","kind":"APIServer","spec":{"certs":[]}}`)
				api.Put("/api/v1/namespaces/ns/configmaps/c", `{"apiVersion":"v1","kind":"ConfigMap","data":{"k":"v"}}`)
				var k keeper
				if changes.before != nil {
					if _, err := changes.before(t.Context(), c, k.save); err != nil {
						t.Fatal(err)
					}
				}
				lost := changes.lost
				if lost == nil {
					original := k.saved[0]
					lost = func(ctx context.Context, c *kube.Cluster, _ kube.Save) (bool, error) { return c.Restore(ctx, original) }
				}
				ctx, stop := context.WithCancel(t.Context())
				switch how {
				case again:
					api.After = func(string, string) { api.After = nil; panic(http.ErrAbortHandler) }
				case stopped:
					api.After = func(string, string) { stop(); panic(http.ErrAbortHandler) }
				case refusal:
					api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
						return r.Method != http.MethodGet && kubetest.Refuse(w, 403, "Forbidden", "no")
					}
				case faster, soon:
					api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
						if r.Method == http.MethodGet {
							return false
						}
						api.Fault = nil
						if _, err := lost(ctx, c, k.save); err != nil {
							t.Error(err)
						}
						if how == faster {
							return kubetest.Refuse(w, 409, "Conflict", "the object has been modified")
						}
						w.Header().Set("Retry-After", "0")
						return kubetest.Refuse(w, 429, "TooManyRequests", "too many requests")
					}
				}
				changed, err := lost(ctx, c, k.save)
				stop()
				// A stopped change tells of an error, which is enough for who would wait; what is put back is asked for by nobody again.
				want := how == again || how == stopped && changes.lost == nil
				if failed := how == stopped || how == refusal; changed != want || (err != nil) != failed {
					t.Errorf("%s: changed %t, want %t (%v)", how, changed, want, err)
				}
			}
		})
	}
}
