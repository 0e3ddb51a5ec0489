package operators

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/test/wait"
)

// order is one in which the three objects of a move are written, or put back.
type order struct {
	Name    string `json:"order"`
	Starts  int    `json:"startsOfKubeAPIServer"`
	Made    int    `json:"revisions"`
	APIAway int    `json:"secondsWithoutAPI"`
	Router  int    `json:"secondsWithoutRouter"`
	Written int    `json:"secondsUntilAllIsWritten"`
	Seconds int    `json:"secondsUntilServed"`

	refs    []kube.Ref // in a move; nil: the product writes
	inOrder bool       // in an undo: the product's; else the last write is put back first
}

// A move in an order, and the undo of it.
type orders struct {
	Move order `json:"move"`
	Undo order `json:"undo"`
}

var (
	apiServers, ingresses, router = kube.Config("apiservers"), kube.Config("ingresses"), kube.IngressController("default")

	ours     = order{Name: "the product's: login's host, API's certificate with its metadata, router last"}
	oursBack = order{Name: "the product's undo: in the same order", inOrder: true}
	everyWay = []orders{
		{ours, oursBack},
		// RHsyseng/cluster-relocation-operator 6757afd: controllers/clusterrelocation_controller.go (Reconcile) has internal/ingress/reconcile.go
		// write the IngressController and then the Ingress, then internal/api/reconcile.go the APIServer, and waits after all three.
		{order{Name: "cluster-relocation-operator's: at once, the router first", refs: []kube.Ref{router, ingresses, apiServers}}, order{Name: "undo of the last write first"}},
		{order{Name: "naive: at once, the API's certificate first", refs: []kube.Ref{apiServers, ingresses, router}}, oursBack},
	}
)

var everyOrder = flag.Bool("orders", false, "move in every order of the writes, not in the product's alone")

// TestOrders counts the starts of kube-apiserver by the order of a move's writes, and of its undo's. Here the login's operator is real
// too: it publishes the metadata that make a revision. It never becomes available on the bench, which has no aggregated API, so the end
// is told by kube-apiserver's revision alone.
func TestOrders(t *testing.T) {
	t.Parallel()
	b := newBed(t, "kube-apiserver", "ingress", "router", "authentication")
	var specs map[string]map[string]any
	tried := everyWay[:1]
	if *everyOrder {
		tried = everyWay
	}
	for i := range tried {
		move, undo := &tried[i].Move, &tried[i].Undo
		names := b.certificates(site)
		secrets := len(b.saved)
		b.measure(move, site, func() {
			for _, ref := range move.refs {
				b.write(ref, specs[ref.String()])
			}
			if move.refs != nil {
				return
			}
			_, err := domain.Apply(t.Context(), b.c, names, b.save)
			fatal(t, err)
			specs = b.specs()
		})
		b.measure(undo, b.Domain, func() {
			if undo.inOrder {
				fatal(t, domain.Restore(t.Context(), b.c, b.saved[secrets:]))
				return
			}
			b.backwards(b.saved[secrets:])
		})
		b.backwards(b.saved[:secrets])
		b.saved = nil
	}
	text, err := json.MarshalIndent(tried, "", "  ")
	fatal(t, err)
	fatal(t, os.WriteFile(filepath.Join("..", "..", "..", ".cache", "bench", "real-orders.json"), append(text, '\n'), 0o600))
	for _, both := range tried {
		for _, o := range []order{both.Move, both.Undo} {
			fmt.Printf("%d starts of kube-apiserver, %d revisions, API away %d s, router %d s, all written after %d s, done after %d s: %s\n", o.Starts, o.Made, o.APIAway, o.Router, o.Written, o.Seconds, o.Name)
		}
		if both.Move.Starts < tried[0].Move.Starts || both.Undo.Starts < tried[0].Undo.Starts {
			t.Errorf("%q or its undo takes fewer starts than the product's order", both.Move.Name)
		}
	}
	fmt.Println(whyLater)
	if o := tried[0]; o.Move.Starts != 1 || o.Undo.Starts != 1 {
		t.Errorf("a move starts kube-apiserver %d times, its undo %d times", o.Move.Starts, o.Undo.Starts)
	}
}

// whyLater says why the product does not write all at once, though that ends sooner. The times are those of a run with the real operators.
const whyLater = "the product gives the API its certificate when the login's metadata is there, 8 s after the first write; the operator makes a revision of each, " +
	"one after the other, 20 to 25 s, and the second overtakes the first, whose installer waits 30 s. Written at once they can share a revision, which ends sooner; " +
	"but metadata that come later than about 40 s miss that installer, and kube-apiserver starts twice"

// measure writes, and waits until kube-apiserver rests with the names of a domain.
func (b *bed) measure(o *order, d string, write func()) {
	b.t.Helper()
	before, begin, w := b.state(), time.Now(), b.watch()
	write()
	o.Written = int(time.Since(begin).Seconds())
	b.runsWith(d)
	w.stop()
	after := b.state()
	o.Starts, o.Made = after.Restarts-before.Restarts, after.Revision.Latest-before.Revision.Latest
	o.APIAway, o.Router = int(w.api.Seconds()), int(w.router.Seconds())
	o.Seconds = int(time.Since(begin).Seconds() - rest.Seconds())
	b.log("%+v", *o)
}

// specs are those of the three objects.
func (b *bed) specs() map[string]map[string]any {
	b.t.Helper()
	all := map[string]map[string]any{}
	for _, ref := range []kube.Ref{apiServers, ingresses, router} {
		object, err := b.c.Get(b.t.Context(), ref)
		fatal(b.t, err)
		all[ref.String()], _ = object["spec"].(map[string]any)
	}
	return all
}

func (b *bed) write(ref kube.Ref, spec map[string]any) {
	b.t.Helper()
	_, err := b.c.ChangeSpec(b.t.Context(), ref, func(now map[string]any) error {
		for key, value := range spec {
			now[key] = value
		}
		return nil
	}, b.save)
	fatal(b.t, err)
}

// rest is how long nothing may happen before a move counts as done.
const rest = time.Minute

// runsWith waits until kube-apiserver rests on a revision that has the names of a domain.
func (b *bed) runsWith(d string) {
	b.t.Helper()
	since := time.Now()
	wait.Until(b.t, "kube-apiserver to run with the names of "+d, func() error {
		why := b.lacks(d)
		if why != "" {
			since = time.Now()
			return fmt.Errorf("%s", why)
		}
		if time.Since(since) < rest {
			return fmt.Errorf("at rest for %v", time.Since(since))
		}
		return nil
	})
}

// lacks says what of a domain's names the running revision does not have.
func (b *bed) lacks(d string) string {
	op, err := b.c.Operator.KubeAPIServers().Get(b.t.Context(), "cluster", metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	node := op.Status.NodeStatuses[0]
	if node.TargetRevision != 0 || node.CurrentRevision != op.Status.LatestAvailableRevision {
		return fmt.Sprintf("revision %d of %d", node.CurrentRevision, op.Status.LatestAvailableRevision)
	}
	read := func(name, key string) string {
		cm, err := b.c.Core.ConfigMaps("openshift-kube-apiserver").Get(b.t.Context(), fmt.Sprintf("%s-%d", name, node.CurrentRevision), metav1.GetOptions{})
		if err != nil {
			return ""
		}
		return cm.Data[key]
	}
	if !strings.Contains(read("oauth-metadata", "oauthMetadata"), "https://oauth-openshift."+domain.Apps(d)) {
		return "the login's metadata"
	}
	if served := strings.Contains(read("config", "config.yaml"), domain.API(site)); served != (d == site) {
		return "the named certificates"
	}
	return ""
}
