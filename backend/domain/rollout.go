package domain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// refusalStands is how long the API server's operator says that it refuses the named certificates until that is believed: what it said
// of an earlier list stands until it looks again, which it does within seconds.
const refusalStands = 10 * time.Second

// Timeouts bound the waits for the roll-outs.
type Timeouts struct {
	Notice time.Duration // until the operators have begun
	Limit  time.Duration // until they have ended
	Grace  time.Duration // how long an operator may be degraded on the way
	Stable time.Duration // how long all must be at rest: between two roll-outs there is a short rest
	Answer time.Duration // until each name answers with its certificate
}

// Usual is what a single node needs. Its API server falls back automatically after five minutes without success, which must be
// seen and told, so the limit is well above that.
//
// After a power cut the cluster needs some 10 minutes to start, and what an operator says is old news until it leads: on a single node it
// waits 270 s from its first look at the lease from before the cut, and then up to its next try, 60 to 132 s later
// (openshift/library-go f489e811f030, pkg/controller/controllercmd/builder.go, topologyLeaderElection, and
// pkg/config/leaderelection/leaderelection.go, LeaderElectionSNOConfig; k8s.io/client-go v0.34.1,
// tools/leaderelection/leaderelection.go, JitterFactor). An unattended landing is undone when a wait ends before that.
func Usual() Timeouts {
	return Timeouts{
		Notice: 15 * time.Minute, Limit: 25 * time.Minute, Grace: 10 * time.Minute, Stable: 30 * time.Second, Answer: 15 * time.Minute,
	}
}

const degradedFix = "Undo the change of the names, or retry when the cause below is fixed."

// Noticed waits until the operators have seen a change: the API server's operator has taken the names into its own configuration,
// and the router's operator has read its. Before, "at rest" is old news.
func Noticed(ctx context.Context, c *kube.Cluster, p Timeouts) error {
	w := kube.Wait{
		What: message.T("the start of the roll-out"), Limit: p.Notice, Usual: time.Minute, Code: "REV-NEW",
		Fix: message.T("Look at the operator kube-apiserver; undo puts the names back."),
	}
	g := newGate("", p)
	c = c.Within(max(p.Notice, c.Pace.Limit)) // a cluster that starts takes its API away for as long
	return c.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		e, err := readEvidence(ctx, c)
		if err == nil {
			err = g.refused(e)
		}
		if err != nil {
			return kube.Progress{}, false, err
		}
		if why := e.unread(); why.String() != "" {
			return kube.Progress{Waiting: why}, false, nil
		}
		seen := false
		err = c.Do(ctx, "reading ingresscontrollers/default", func(ctx context.Context) error {
			ic, err := c.Operator.IngressControllers("openshift-ingress-operator").Get(ctx, "default", metav1.GetOptions{})
			if err == nil {
				// Releases without the field leave it at zero.
				seen = ic.Status.ObservedGeneration == 0 || ic.Status.ObservedGeneration >= ic.Generation
			}
			return err
		})
		return kube.Progress{Waiting: message.T("the router's operator to read its configuration")}, seen, err
	})
}

// WaitRolledOut waits until all roll-outs have ended well: the API server runs with the newest configuration; the operators are at rest; the
// console and the login have their hosts under want, when want is given.
func WaitRolledOut(ctx context.Context, c *kube.Cluster, want string, p Timeouts) error {
	w := kube.Wait{
		What: message.T("the roll-out of the names"), Limit: p.Limit, Usual: 10 * time.Minute, Code: "REV-LATE",
		Fix: message.T("Retry to go on waiting; undo puts the old names back."),
	}
	g := newGate(want, p)
	c = c.Within(max(p.Limit, c.Pace.Limit)) // a fallback takes the API away for longer than a revision does
	if want != "" {
		var err error
		if g.served, err = (Names{Domain: want}).Hosts(ctx, c); err != nil {
			return err
		}
	}
	return c.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) { return g.look(ctx, c) })
}

// gate remembers between two looks since when something is so. It goes by its own clock, as the cluster's may have just jumped.
type gate struct {
	want   string
	served Served // with want
	p      Timeouts
	since  map[string]time.Time
}

func newGate(want string, p Timeouts) *gate {
	return &gate{want: want, p: p, since: map[string]time.Time{}}
}

func (g *gate) look(ctx context.Context, c *kube.Cluster) (kube.Progress, bool, error) {
	e, err := readEvidence(ctx, c)
	if err == nil {
		err = errors.Join(g.refused(e), g.fell(e))
	}
	if err != nil {
		return kube.Progress{}, false, err
	}
	all, err := c.Operators(ctx)
	if err != nil {
		return kube.Progress{}, false, err
	}
	p, pending, err := g.operators(all, e)
	if err != nil {
		return p, false, err
	}
	hosts, moved, err := g.hosts(ctx, c)
	if err != nil {
		return p, false, err
	}
	pending = append(pending, hosts...)
	controller, err := controllers(ctx, c)
	if err != nil {
		return p, false, err
	}
	for _, why := range []message.Text{controller, e.notRolledOut(moved)} {
		if why.String() != "" {
			pending = slices.Insert(pending, 0, why)
		}
	}
	p.Waiting = message.T("the operators to stay at rest")
	if len(pending) > 0 {
		p.Waiting = pending[0]
	}
	rest := g.lasts("rest", len(pending) == 0)
	return p, len(pending) == 0 && rest >= g.p.Stable, nil
}

// refused tells a configuration that the API server's operator does not take, in the operator's words. A ClusterOperator says so only
// minutes later, and no revision comes of it.
func (g *gate) refused(e *evidence) error {
	names := aboutNames(e.refused)
	sure := g.lasts("names refused", names != "") >= min(refusalStands, g.p.Grace)
	long := g.lasts("refused", e.refused != "") >= g.p.Grace
	why := names
	switch {
	case names != "" && sure:
	case e.refused != "" && long:
		why = e.refused
	default:
		return nil
	}
	return &problem.Problem{
		Code:    "CERT-KAS",
		Summary: message.T("The operator kube-apiserver refuses the configuration of the API server and goes on with the old one."),
		Fix:     message.T(degradedFix),
		Err:     errors.New(why),
	}
}

// fell tells a revision that will not come up any more. An installer that fails is tried again, so it gets some time; an
// API server that fell back is not. One that failed with another configuration than the newest is followed by another.
func (g *gate) fell(e *evidence) error {
	r := e.revisions
	fell := r.Fell(0) && !e.coming
	if long := g.lasts("fell", fell) >= g.p.Grace; !fell || !r.FellBack && !long {
		return nil
	}
	return &problem.Problem{
		Code:    "REV-FALL",
		Summary: message.F("The API server could not run its revision %d and went back to revision %d.", r.Failed, r.Current),
		Fix:     message.T("Undo: the old names come back. The new certificate is the likely cause."),
		Err:     fmt.Errorf("%s", r.Why),
	}
}

// operators counts those at rest and says what the others do.
func (g *gate) operators(all []configv1.ClusterOperator, e *evidence) (p kube.Progress, pending []message.Text, err error) {
	p.Unit = "operators"
	for _, m := range movers {
		i := slices.IndexFunc(all, func(co configv1.ClusterOperator) bool { return co.Name == m.name })
		if i < 0 {
			continue
		}
		p.Total++
		if why := kube.OperatorPending(&all[i]); why != (message.Text{}) {
			pending = append(pending, message.F("operator %s", why))
		} else {
			p.Done++
		}
		if err := g.degraded(&all[i], e); err != nil {
			return p, nil, err
		}
	}
	return p, pending, nil
}

// lasts returns for how long something has been so.
func (g *gate) lasts(what string, so bool) time.Duration {
	if !so {
		delete(g.since, what)
		return 0
	}
	if _, there := g.since[what]; !there {
		g.since[what] = time.Now()
	}
	return time.Since(g.since[what])
}

func (g *gate) degraded(co *configv1.ClusterOperator, e *evidence) error {
	cond := kube.Condition(co, configv1.OperatorDegraded)
	bad := cond != nil && cond.Status == configv1.ConditionTrue && (!followed(cond) || !e.coming && !e.revisions.Followed())
	if g.lasts("degraded "+co.Name, bad) < g.p.Grace || !bad {
		return nil
	}
	return &problem.Problem{
		Code:    "CLU-DEGR",
		Summary: message.F("The operator %s reports trouble with the new names.", co.Name),
		Fix:     message.T(degradedFix),
		Err:     fmt.Errorf("%s: %s", cond.Reason, cond.Message),
	}
}

// followed tells whether an operator is degraded for nothing but a revision that did not come up, which ends when the next one runs.
func followed(degraded *configv1.ClusterOperatorStatusCondition) bool {
	return !slices.ContainsFunc(strings.Split(degraded.Reason, "::"), func(reason string) bool {
		kind, _, _ := strings.Cut(reason, "_")
		return !slices.Contains([]string{"StaticPodFallbackRevision", "StaticPods", "NodeInstaller"}, kind)
	})
}

// hosts says which of the component routes do not have their new host yet, as far as their operators tell, and the login's host where it
// has it.
func (g *gate) hosts(ctx context.Context, c *kube.Cluster) (pending []message.Text, oauth string, err error) {
	if g.want == "" {
		return nil, "", nil
	}
	var status []configv1.ComponentRouteStatus
	err = c.Do(ctx, "reading ingresses/cluster", func(ctx context.Context) error {
		ingress, err := c.Config.Ingresses().Get(ctx, "cluster", metav1.GetOptions{})
		if err == nil {
			status = ingress.Status.ComponentRoutes
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	for _, part := range components {
		i := slices.IndexFunc(status, func(s configv1.ComponentRouteStatus) bool {
			return s.Namespace == part.namespace && s.Name == part.name
		})
		will := g.served[part.name]
		if i < 0 || !will.Moves() {
			continue // its operator is not installed, or too old to tell: the probe of the host decides
		}
		if !slices.Contains(status[i].CurrentHostnames, configv1.Hostname(will.Name)) {
			pending = append(pending, message.F("the host %s", will.Name))
		} else if will == g.served.OAuth() {
			oauth = will.Name
		}
		if err := g.routeRefused(part, status[i]); err != nil {
			return nil, "", err
		}
	}
	return pending, oauth, nil
}

func (g *gate) routeRefused(part component, s configv1.ComponentRouteStatus) error {
	i := slices.IndexFunc(s.Conditions, func(c metav1.Condition) bool {
		return c.Type == "Degraded" && c.Status == metav1.ConditionTrue
	})
	if g.lasts("route "+part.name, i >= 0) < g.p.Grace || i < 0 {
		return nil
	}
	return &problem.Problem{
		Code:    "CERT-REF",
		Summary: message.F("The cluster refuses the new host or certificate of %s.", part.name),
		Fix:     message.T(degradedFix),
		Err:     fmt.Errorf("%s: %s", s.Conditions[i].Reason, s.Conditions[i].Message),
	}
}
