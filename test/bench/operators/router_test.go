package operators

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	routev1 "github.com/openshift/api/route/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/domain"
	"touchdown/backend/health"
	"touchdown/test/wait"
)

// routerFigures are what a change of the router's pods takes, in seconds. Not in them: the scheduler, which may look again after 10 s, the
// start of a container, and an API that is away.
type routerFigures struct {
	Serves float64 `json:"servesWhileItEnds"`                // and admits nothing, from the signal on
	Drains float64 `json:"haproxyLetsGoUntilTheProgramEnds"` // with a connection that stays, which the script plays
	Ready  float64 `json:"startUntilReady"`
	First  float64 `json:"startUntilFirstAdmission"`
	All    float64 `json:"startUntilAllAdmitted"`
	Routes int     `json:"routes"`
	Away   float64 `json:"withoutAdmissions"` // from the signal to the admission of a route that was made right after it
}

// TestRouter holds the router's own program against what Touchdown and the bench take for granted about it, and measures for how long it
// admits no routes while the real ingress operator has it replaced.
func TestRouter(t *testing.T) {
	t.Parallel()
	b := newBed(t, "ingress", "router")
	b.admitsAll()
	b.claims()
	f := b.replaced()
	text, err := json.MarshalIndent(f, "", "  ")
	fatal(t, err)
	fatal(t, os.WriteFile(filepath.Join("..", "..", "..", ".cache", "bench", "real-router.json"), append(text, '\n'), 0o600))
	fmt.Printf("router: serves %.1f s while it ends, without a listener %.1f s until its program ends; started, it is ready after %.1f s, admits the first route after %.1f s, all %d after %.1f s; %.1f s without admissions\n",
		f.Serves, f.Drains, f.Ready, f.First, f.Routes, f.All, f.Away)
}

func (b *bed) router() *routerPod {
	b.t.Helper()
	p, ok := routers.Load(b.Cluster)
	if !ok {
		b.t.Fatal("the router is not real")
	}
	return p.(*routerPod)
}

func (b *bed) routes() []routev1.Route {
	b.t.Helper()
	var items []routev1.Route
	wait.Until(b.t, "the routes", func() error {
		list, err := b.c.Route.Routes("").List(b.t.Context(), metav1.ListOptions{})
		if err == nil {
			items = list.Items
		}
		return err
	})
	return items
}

// waiting are the routes that the router has not admitted under the host that they want.
func (b *bed) waiting(apps string) []string {
	b.t.Helper()
	var all []string
	for _, r := range b.routes() {
		host := r.Spec.Host
		if host == "" {
			host = r.Spec.Subdomain + "." + apps
		}
		if !slices.ContainsFunc(r.Status.Ingress, func(i routev1.RouteIngress) bool {
			return i.RouterName == "default" && i.Host == host && i.RouterCanonicalHostname == "router-default."+apps && admits(i)
		}) {
			all = append(all, r.Namespace+"/"+r.Name)
		}
	}
	return all
}

func admits(i routev1.RouteIngress) bool {
	return slices.ContainsFunc(i.Conditions, func(c routev1.RouteIngressCondition) bool {
		return c.Type == routev1.RouteAdmitted && c.Status == corev1.ConditionTrue
	})
}

// admitsAll checks that each route of the cluster is admitted as the stand-in does it, the canary below the router's own domain, and that
// the product's check agrees.
func (b *bed) admitsAll() {
	b.t.Helper()
	wait.Until(b.t, "the router to admit all routes", func() error {
		if left := b.waiting(domain.Apps(b.Domain)); len(left) > 0 {
			return fmt.Errorf("without an admission: %s", left)
		}
		return nil
	})
	if got, want := b.canary(), fmt.Sprintf("host %q, subdomain %q, served as canary-openshift-ingress-canary.%s", "", "canary-openshift-ingress-canary", domain.Apps(b.Domain)); got != want {
		b.t.Errorf("the canary has %s; want %s", got, want)
	}
	if k := b.checked(); k.Status != check.Pass {
		b.t.Errorf("routes: %s, %s", k.Status, k.Observed)
	}
}

// checked is the product's word on the routes.
func (b *bed) checked() check.Check {
	b.t.Helper()
	for _, k := range health.Judge(health.Look(b.t.Context(), b.c, health.Options{}), health.Options{}) {
		if k.ID == "routes" {
			return k
		}
	}
	b.t.Fatal("no check of the routes")
	return check.Check{}
}

func (b *bed) route(namespace, name, host, subdomain string) {
	b.t.Helper()
	r := &routev1.Route{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Spec: routev1.RouteSpec{
		Host: host, Subdomain: subdomain, To: routev1.RouteTargetReference{Kind: "Service", Name: "portal"}, WildcardPolicy: routev1.WildcardPolicyNone,
	}}
	_, err := b.c.Route.Routes(namespace).Create(b.t.Context(), r, metav1.CreateOptions{})
	fatal(b.t, err)
}

// claims makes routes that want a host that another namespace has, and a subdomain.
func (b *bed) claims() {
	b.t.Helper()
	_, err := b.kube.CoreV1().Namespaces().Create(b.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{})
	fatal(b.t, err)
	b.route("other", "taken", "portal.plant.example", "")
	b.route("other", "below", "", "below")
	wait.Until(b.t, "the product to tell that a host is taken", func() error {
		if k := b.checked(); !strings.Contains(k.Observed.String(), "other/taken is not taken: HostAlreadyClaimed") || strings.Contains(k.Observed.String(), "below") {
			return fmt.Errorf("it says %s: %s", k.Status, k.Observed)
		}
		return nil
	})
	fatal(b.t, b.c.Route.Routes("other").Delete(b.t.Context(), "taken", metav1.DeleteOptions{}))
	now, err := domain.Routes(b.t.Context(), b.c, domain.Now{Domain: b.Domain}, site)
	fatal(b.t, err)
	i := slices.IndexFunc(now, func(r domain.Route) bool { return r.Namespace == "other" })
	if i < 0 || now[i].Kind != domain.Bound || now[i].Host != "below."+domain.Apps(b.Domain) {
		b.t.Errorf("the route with a subdomain: %+v", now)
	}
}

// replaced gives the router another certificate, as a move does, and follows the change of its pods.
func (b *bed) replaced() routerFigures {
	b.t.Helper()
	b.fitsThePace()
	fatal(b.t, b.SetDelay("life"))
	names, pod := b.certificates(site), b.router()
	begun := time.Now()
	b.change(router, func(spec map[string]any) { spec["defaultCertificate"] = map[string]any{"name": names.AppsSecret} })
	wait.Until(b.t, "the router to be told to end", func() bool { return pod.last().ends.After(begun) })
	b.route("other", "late", "late.plant.example", "")
	if _, err := b.Leaf(b.t.Context(), "443", domain.Console(b.Domain)); err != nil {
		b.t.Errorf("a router that is to end does not serve: %v", err)
	}
	wait.Until(b.t, "haproxy to end", func() bool { return pod.last().away.After(begun) })
	if left := b.waiting(domain.Apps(b.Domain)); !slices.Equal(left, []string{"other/late"}) {
		b.t.Errorf("a router that was to end left %s without an admission", left)
	}
	b.forgotten()
	f, last := routerFigures{Routes: len(b.routes())}, routerTimes{}
	wait.Until(b.t, "the next router to start", func() bool { last = pod.last(); return last.begun.After(begun) })
	wait.Until(b.t, "the next router to admit all routes", func() error {
		left := b.waiting(domain.Apps(b.Domain))
		if f.First == 0 && len(left) < f.Routes {
			f.First = time.Since(last.begun).Seconds()
		}
		if len(left) > 0 {
			return fmt.Errorf("it has not admitted %s", left)
		}
		f.All = time.Since(last.begun).Seconds()
		return nil
	})
	f.Away = time.Since(last.ends).Seconds()
	wait.Until(b.t, "the next router to be ready", func() bool { last = pod.last(); return last.ready.After(begun) })
	f.Serves, f.Drains, f.Ready = last.away.Sub(last.ends).Seconds(), last.gone.Sub(last.away).Seconds(), last.ready.Sub(last.begun).Seconds()
	if f.Serves < 44 || f.Serves > 60 {
		b.t.Errorf("a router that is to end serves for %.1f s", f.Serves)
	}
	b.told(pod, "late.plant.example")
	return f
}

// forgotten takes away what the routers have said, so that the next one admits each route.
func (b *bed) forgotten() {
	b.t.Helper()
	for _, r := range b.routes() {
		_, err := b.c.Route.Routes(r.Namespace).Patch(b.t.Context(), r.Name, "application/merge-patch+json", []byte(`{"status":{"ingress":null}}`), metav1.PatchOptions{}, "status")
		fatal(b.t, err)
	}
}

// fitsThePace checks the numbers in the operator's Deployment on which the bench's durations of a router's roll-out rest.
func (b *bed) fitsThePace() {
	b.t.Helper()
	d := b.router().deployment()
	spec := d.Spec.Template.Spec
	if *spec.TerminationGracePeriodSeconds != 3600 || d.Spec.MinReadySeconds != 30 || spec.Containers[0].StartupProbe.PeriodSeconds != 1 || spec.Containers[0].ReadinessProbe.InitialDelaySeconds != 0 {
		b.t.Errorf("the router's Deployment has other numbers: grace %d s, ready for %d s, %+v", *spec.TerminationGracePeriodSeconds, d.Spec.MinReadySeconds, spec.Containers[0].StartupProbe)
	}
	for _, name := range []string{"ROUTER_GRACEFUL_SHUTDOWN_DELAY", "MAX_RELOAD_WAIT_TIME", "ROUTER_MAX_SHUTDOWN_TIMEOUT"} {
		if v := b.routerEnv(name); v != "" {
			b.t.Errorf("the operator sets %s to %s", name, v)
		}
	}
}

// told checks that haproxy would hear of a host: it is in one of the tables that the router writes for it.
func (b *bed) told(pod *routerPod, host string) {
	b.t.Helper()
	wait.Until(b.t, host+" in haproxy's tables", func() error {
		files, err := filepath.Glob(filepath.Join(pod.root, "var/lib/haproxy/conf/*.map"))
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), strings.ReplaceAll(host, ".", `\.`)) {
				return nil
			}
		}
		return fmt.Errorf("not in %s: %w", files, err)
	})
}
