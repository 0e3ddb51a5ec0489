package kube_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/test/wait"
)

// TestFollowKeepsNoSecret: a list comes in pages of metadata; what could be secret in that, or only takes memory, is not kept.
func TestFollowKeepsNoSecret(t *testing.T) {
	a, c := kubetest.New(t)
	const object = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":%q,"namespace":"x","resourceVersion":"7",` +
		`"managedFields":[{"manager":"oc"}],"annotations":{"kept":"yes","kubectl.kubernetes.io/last-applied-configuration":"the secret"}}}`
	a.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		q := r.URL.Query()
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path != "/api/v1/secrets" || !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata"):
			http.NotFound(w, r)
		case q.Get("watch") == "true":
			fmt.Fprintf(w, `{"type":"ADDED","object":`+object+"}\n", "c")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case q.Get("limit") == "" || q.Get("resourceVersion") != "":
			http.Error(w, "all at once", http.StatusInternalServerError)
		default:
			name, next := "a", "more"
			if q.Get("continue") == "more" {
				name, next = "b", ""
			}
			fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7","continue":%q},"items":[`+object+"]}", next, name)
		}
		return true
	}
	f := kube.Follow[metav1.PartialObjectMetadata](t.Context(), c, kube.Ref{Version: "v1", Resource: "secrets"}, func(context.Context) error { return nil }, func() {})
	var items []metav1.PartialObjectMetadata
	wait.Until(t, "all three", func() bool {
		items, _, _ = f.Items()
		return len(items) == 3
	})
	for _, is := range items {
		if len(is.ManagedFields) != 0 || len(is.Annotations) != 1 || is.Annotations["kept"] != "yes" {
			t.Errorf("%+v", is)
		}
	}
}

// TestClientGoIsSilent: what client-go logs beside a context would stand on the screen.
func TestClientGoIsSilent(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stderr := os.Stderr
	os.Stderr = file
	klog.Info("a trace")
	klog.ErrorS(nil, "an error")
	klog.Background().Info("another one")
	klog.Flush()
	os.Stderr = stderr
	if text, err := os.ReadFile(file.Name()); err != nil || len(text) > 0 {
		t.Errorf("%v, %q", err, text)
	}
}
