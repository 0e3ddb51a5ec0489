package operators

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/test/wait"
)

func entry(secret string, names ...any) any {
	return map[string]any{"names": names, "servingCertificate": map[string]any{"name": secret}}
}

// moved asks what happens around a cluster that has our names: what its owner writes badly is refused by the operator, told by the
// product, and changes nothing.
func (b *bed) moved(n domain.Names) {
	b.t.Helper()
	before := b.state().Revision.Latest
	undo := b.entries(func(list []any) []any {
		return append(list, entry(n.APISecret, "api.vanity.example", domain.API(n.Domain)))
	})
	b.saw(qRefused, b.refusal())
	short := domain.Usual()
	short.Limit = 2 * time.Minute
	b.saw(qDuplicate, outcome(domain.WaitRolledOut(b.t.Context(), b.c, n.Domain, short)))
	undo()
	b.accepted()

	undo = b.entries(func(list []any) []any { return append(list, entry("no-such-secret", "api.vanity.example")) })
	b.saw(qSaysMissing, b.refusal())
	_, err := domain.Apply(b.t.Context(), b.c, n, b.save)
	b.saw(qMissing, outcome(err))
	undo()
	b.accepted()

	undo = b.entries(func(list []any) []any {
		for i := len(list); i < 11; i++ {
			list = append(list, entry(n.APISecret, fmt.Sprintf("api%d.vanity.example", i)))
		}
		return list
	})
	b.saw(qSaysTooMany, b.refusal())
	_, err = domain.Apply(b.t.Context(), b.c, n, b.save)
	b.saw(qTooMany, outcome(err))
	undo()
	b.accepted()
	b.saw(qRefusedKeep, b.state().Revision.Latest-before)

	// Another entry serves a name that the next site wants: it is taken out of there.
	next := n
	next.Domain, next.APISecret = secondSite, certs.APISecret(secondSite)
	undo = b.entries(func(list []any) []any {
		return append(list, entry(n.APISecret, domain.API(next.Domain), "api.vanity.example"))
	})
	taken, err := next.Fits(b.t.Context(), b.c)
	b.saw(qTaken, fmt.Sprintf("%d entries, %s", len(taken), outcome(err)))
	undo()
	b.accepted()
	b.canaryWithHost()
	b.consoleByHand()
	b.unmanaged(next)
	b.sharded(next)
	b.waitRolledOut()
}

// forced checks that the product is right to refuse a cluster whose operator of kube-apiserver is not in the state Managed: in the
// only other one that its API takes, Force, it makes no revision of a new configuration.
func (b *bed) forced(n domain.Names) {
	b.t.Helper()
	manage := func(state string) {
		_, err := b.c.Operator.KubeAPIServers().Patch(b.t.Context(), "cluster", types.MergePatchType, []byte(`{"spec":{"managementState":"`+state+`"}}`), metav1.PatchOptions{})
		fatal(b.t, err)
	}
	before := b.operator().Status.LatestAvailableRevision
	manage("Force")
	_, err := n.Fits(b.t.Context(), b.c)
	if got := outcome(err); got != "CVR-STTE" {
		b.t.Errorf("a move where the operator has the state Force: %s", got)
	}
	undo := b.entries(func(list []any) []any { return append(list, entry(n.APISecret, "api.vanity.example")) })
	if b.within(45*time.Second, func() bool { return b.operator().Status.LatestAvailableRevision > before }) {
		b.t.Error("an operator of the state Force makes a revision")
	}
	undo()
	manage("Managed")
}

// consoleByHand changes the host of the console's route as someone with a text editor would.
func (b *bed) consoleByHand() {
	b.t.Helper()
	before := b.consoles()
	_, err := b.c.Route.Routes("openshift-console").Patch(b.t.Context(), "console", types.MergePatchType, []byte(`{"spec":{"host":"byhand.apps.`+b.Domain+`"}}`), metav1.PatchOptions{})
	fatal(b.t, err)
	b.saw(qByHand, b.within(2*time.Minute, func() bool { return b.consoles() == before }))
}

// within tells whether something becomes so.
func (b *bed) within(d time.Duration, so func() bool) bool {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.t.Context(), d)
	defer stop()
	return wait.For(ctx, "a change, or its absence", so) == nil
}

// canaryWithHost sets a host on the route of the ingress operator, which makes it again without one.
func (b *bed) canaryWithHost() {
	b.t.Helper()
	routes := b.c.Route.Routes("openshift-ingress-canary")
	before, err := routes.Get(b.t.Context(), "canary", metav1.GetOptions{})
	fatal(b.t, err)
	_, err = routes.Patch(b.t.Context(), "canary", types.MergePatchType, []byte(`{"spec":{"host":"canary.apps.`+site+`"}}`), metav1.PatchOptions{})
	fatal(b.t, err)
	wait.Until(b.t, "the canary's route to be made again", func() bool {
		now, err := routes.Get(b.t.Context(), "canary", metav1.GetOptions{})
		return err == nil && now.UID != before.UID && len(now.Status.Ingress) > 0
	})
	b.saw(qHost, b.canary())
}

// refusal waits until the operator refuses its configuration, and returns its words.
func (b *bed) refusal() string {
	b.t.Helper()
	why := ""
	wait.Until(b.t, "the operator to refuse its configuration", func() bool {
		why = b.says()
		return why != ""
	})
	return why
}

// accepted waits until it refuses nothing.
func (b *bed) accepted() {
	b.t.Helper()
	wait.Until(b.t, "the operator to take its configuration", func() bool { return b.says() == "" })
}

var spaces = regexp.MustCompile(`\s+`)

func (b *bed) says() string {
	for _, c := range b.operator().Status.Conditions {
		if c.Type == "ConfigObservationDegraded" && c.Status == operatorv1.ConditionTrue {
			return strings.TrimSpace(spaces.ReplaceAllString(c.Message, " "))
		}
	}
	return ""
}
