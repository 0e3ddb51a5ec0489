package operators

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/backend/problem"
	"touchdown/test/wait"
)

// The questions, in the order in which the scenario asks them.
const (
	qMove       = "the move ends with"
	qServed     = "the new names are served after the move"
	qRestarts   = "starts of kube-apiserver in a move"
	qRevisions  = "revisions of kube-apiserver in a move"
	qNoticed    = "seconds from the first write until the operators have read all"
	qRolledOut  = "seconds from the first write until all is rolled out"
	qAPIAway    = "seconds without API in a move"
	qRouterAway = "seconds without router in a move"

	qIngressGone = "ingress is not available at some time of a move"
	qCanary      = "the canary's route after the move"

	qChain   = "default-ingress-cert after the move"
	qConsole = "routes of the console after the move"
	qHost    = "the canary's route after a host was set by hand"
	qByHand  = "the console's route comes back after its host was changed by hand"

	qTaken       = "a name that another entry serves"
	qDuplicate   = "after the move someone adds an entry with our name; waiting says"
	qRefused     = "the operator says of an entry with a name of another"
	qRefusedKeep = "revisions for a configuration that is refused"
	qTooMany     = "a move where ten entries are served already"
	qSaysTooMany = "the operator says of eleven entries"
	qMissing     = "a move where an entry lacks its secret"
	qSaysMissing = "the operator says of a secret that does not exist"

	qUnmanaged = "a move where the console's operator is unmanaged"
	qSharded   = "a move where the router takes only some routes"
	qProxied   = "a move where the cluster's proxy would be asked for the new hosts"
	qOwners    = "a move with the owner's router certificate, ciphers and proxy ends with"
	qKept      = "the owner's settings after that move"

	qUndo       = "the undo ends with"
	qUndone     = "named certificates after the undo"
	qUndoStarts = "starts of kube-apiserver in an undo"
)

const site, secondSite = "store1.site.example", "store2.site.example"

// scenario is what both clusters go through.
func scenario(b *bed) {
	before, w := b.state(), b.watch()
	begin := time.Now()
	names := b.certificates(site)
	noticed, err := b.move(names)
	after := b.state()
	b.saw(qNoticed, seconds(noticed))
	b.saw(qMove, outcome(err))
	b.saw(qRolledOut, seconds(time.Since(begin)))
	b.saw(qRestarts, after.Restarts-before.Restarts)
	b.saw(qRevisions, after.Revision.Latest-before.Revision.Latest)
	w.stop()
	b.saw(qAPIAway, seconds(w.api))
	b.saw(qRouterAway, seconds(w.router))
	b.saw(qIngressGone, w.ingressGone)
	b.saw(qCanary, b.canary())
	if slices.Contains(b.real, "ingress") {
		b.routerGoesFirst()
	}
	b.saw(qChain, b.publishes(names))
	b.saw(qConsole, b.consoles())
	b.saw(qServed, b.serves("6443", domain.API(site))+", "+b.serves("443", domain.Console(site)))
	fatal(b.t, b.SetDelay("zero")) // what a refusal is does not depend on the pace
	b.moved(names)
	fatal(b.t, b.SetDelay("life"))
	b.undo()
	fatal(b.t, b.SetDelay("zero"))
	b.withOwners()
}

// certificates makes those of a new domain, and returns its names.
func (b *bed) certificates(d string) domain.Names {
	b.t.Helper()
	n := domain.Names{Domain: d, APISecret: certs.APISecret(d), AppsSecret: certs.AppsSecret(d), Ours: certs.Ours}
	api, err := certs.APISigner(b.t.Context(), b.c)
	fatal(b.t, err)
	apps, err := certs.AppsSigner(b.t.Context(), b.c)
	fatal(b.t, err)
	for _, w := range []certs.Want{
		{Secret: n.APISecret, Namespaces: []string{domain.ConfigNamespace}, Names: []string{domain.API(d)}, Signer: api, Now: time.Now()},
		{
			Secret: n.AppsSecret, Namespaces: []string{domain.ConfigNamespace, domain.RouterNamespace},
			Names: []string{"*." + domain.Apps(d), "*." + domain.Apps(b.Domain)}, Signer: apps, Now: time.Now(),
		},
	} {
		_, err := certs.Install(b.t.Context(), b.c, w, b.save)
		fatal(b.t, err)
	}
	return n
}

// move is what the steps of a landing do with the names; noticed is when the operators had read all.
func (b *bed) move(names domain.Names) (noticed time.Duration, err error) {
	b.t.Helper()
	begin, ctx := time.Now(), b.t.Context()
	if _, err := domain.Apply(ctx, b.c, names, b.save); err != nil {
		return 0, err
	}
	if err := domain.Noticed(ctx, b.c, domain.Usual()); err != nil {
		return 0, err
	}
	return time.Since(begin), domain.WaitRolledOut(ctx, b.c, names.Domain, domain.Usual())
}

// waitRolledOut waits until nothing rolls out.
func (b *bed) waitRolledOut() {
	b.t.Helper()
	p := domain.Usual()
	p.Grace, p.Stable = p.Limit, 15*time.Second
	fatal(b.t, domain.WaitRolledOut(b.t.Context(), b.c, "", p))
}

// backwards puts back what was changed, last first.
func (b *bed) backwards(saved [][]byte) {
	b.t.Helper()
	for _, original := range slices.Backward(saved) {
		_, err := b.c.Restore(b.t.Context(), original)
		fatal(b.t, err)
	}
}

// undo takes the move back, and waits for that.
func (b *bed) undo() {
	b.t.Helper()
	before := b.state()
	fatal(b.t, domain.Restore(b.t.Context(), b.c, b.saved)) // the Secrets last
	b.saved = nil
	err := domain.Noticed(b.t.Context(), b.c, domain.Usual())
	if err == nil {
		err = domain.WaitRolledOut(b.t.Context(), b.c, "", domain.Usual())
	}
	b.saw(qUndo, outcome(err))
	b.saw(qUndoStarts, b.state().Restarts-before.Restarts)
	b.saw(qUndone, len(b.operator().Spec.ObservedConfig.Raw) > 0 && strings.Contains(string(b.operator().Spec.ObservedConfig.Raw), "user-serving-cert"))
}

func (b *bed) operator() *operatorv1.KubeAPIServer {
	b.t.Helper()
	var op *operatorv1.KubeAPIServer
	wait.Until(b.t, "the operator's resource", func() (err error) {
		op, err = b.c.Operator.KubeAPIServers().Get(b.t.Context(), "cluster", metav1.GetOptions{})
		return err
	})
	return op
}

// serves tells who signed what a port shows for a name, and whether it is for that name.
func (b *bed) serves(port, name string) string {
	b.t.Helper()
	leaf, err := b.Leaf(b.t.Context(), port, name)
	if err != nil {
		return "nothing"
	}
	if leaf.VerifyHostname(name) != nil {
		return "another certificate"
	}
	return "its certificate"
}

// outcome is what a person would be told.
func outcome(err error) string {
	if err == nil {
		return "success"
	}
	return problem.From(err).Code
}

func seconds(d time.Duration) string { return fmt.Sprint(math.Round(d.Seconds())) }

// entries changes the list of named certificates as the cluster's owner would.
func (b *bed) entries(change func(list []any) []any) (undo func()) {
	b.t.Helper()
	return b.change(kube.Config("apiservers"), func(spec map[string]any) {
		serving, _ := spec["servingCerts"].(map[string]any)
		if serving == nil {
			serving = map[string]any{}
			spec["servingCerts"] = serving
		}
		list, _ := serving["namedCertificates"].([]any)
		serving["namedCertificates"] = change(list)
	})
}

// change does to a spec what the cluster's owner would.
func (b *bed) change(ref kube.Ref, change func(spec map[string]any)) (undo func()) {
	b.t.Helper()
	var original []byte
	_, err := b.c.ChangeSpec(b.t.Context(), ref, func(spec map[string]any) error {
		change(spec)
		return nil
	}, func(_ kube.Ref, o []byte) error { original = o; return nil })
	fatal(b.t, err)
	return func() {
		_, err := b.c.Restore(b.t.Context(), original)
		fatal(b.t, err)
	}
}
