package e2e

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/test/bench/landing"
)

// TestRename gives a node another name on its way: it boots in between, and its kubelet comes back as a new node.
func TestRename(t *testing.T) {
	const name = "sno-0051"
	f := newTrip(t, 6*time.Minute, landing.Options{})
	f.collecting()
	f.must(f.Begin(f.ctx, strings.Replace(static("  hostname: "+name+"\n  nodeLabels: {zone: berlin}\n"), "  policy:\n", "  policy:\n    allowHostnameChange: true\n    allowReboot: true\n", 1)))
	f.lands()
	if got := f.shell("hostname; openssl x509 -noout -subject -in /var/lib/kubelet/pki/kubelet-client-current.pem"); !strings.HasPrefix(got, name+"\n") || !strings.Contains(got, "system:node:"+name) {
		t.Errorf("the machine: %s", got)
	}
	nodes, err := f.client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).List(f.ctx, metav1.ListOptions{})
	f.must(err)
	if len(nodes.Items) != 1 || nodes.Items[0].GetName() != name {
		t.Errorf("the cluster has %d nodes, the first is %s", len(nodes.Items), nodes.Items[0].GetName())
	}
	if _, is := nodes.Items[0].GetLabels()["node-role.kubernetes.io/master"]; !is {
		t.Errorf("the node lost its labels: %v", nodes.Items[0].GetLabels())
	}
	if got := nodes.Items[0].GetLabels()["zone"]; got != "berlin" {
		t.Errorf("the site's label is %q", got)
	}
}
