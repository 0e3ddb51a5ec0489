package health

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	routev1 "github.com/openshift/api/route/v1"
	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// site is a web console that people use; any of its routes will do.
type site struct {
	id        string
	title     message.Text
	namespace string
	routes    []string // the one with a name of the administrator's choice first
	path      string
}

var sites = []site{
	{"web-console", message.T("Web console answers"), "openshift-console", []string{"console-custom", "console"}, "/"},
	{"web-login", message.T("Login page answers (OAuth)"), "openshift-authentication", []string{"oauth-openshift"}, "/healthz"},
	{"web-canary", message.T("Application ingress answers (canary)"), "openshift-ingress-canary", []string{"canary"}, "/"},
}

var errNoRoute = errors.New("the cluster has no route for it")

// host returns the name under which a site is to be reached.
func (s *State) host(w site, domain string) string {
	best := ""
	for _, name := range w.routes {
		for i := range s.Routes {
			r := &s.Routes[i]
			if r.Namespace != w.namespace || r.Name != name {
				continue
			}
			for _, h := range hosts(r) {
				if best == "" || below(h, domain) && !below(best, domain) {
					best = h
				}
			}
		}
	}
	return best
}

func (s *State) ask(ctx context.Context, w site, ingress, domain string) Answer {
	a := Answer{Host: s.host(w, domain)}
	switch {
	case a.Host == "":
		a.Err = errNoRoute
	case ingress == "":
		a.Err = errors.New("the node's address is not known")
	default:
		a.Status, _, a.Err = kube.Get(ctx, ingress, a.Host, w.path)
	}
	return a
}

func judgeSite(s *State, w site) check.Check {
	c := check.Check{
		ID: w.id, Title: w.title, Expected: message.T("a page"), Source: message.T("HTTPS to the node, with the site's name"),
		Fix: message.T("Wait a few minutes: the page restarts after a change of its name or certificate."),
	}
	if c, no := unread(s, c, "routes"); no {
		return c
	}
	a := s.Sites[w.id]
	switch {
	case errors.Is(a.Err, errNoRoute):
		return absent(c)
	case a.Err != nil:
		c.Status, c.Observed = check.Fail, message.F("%s%s", strings.TrimPrefix(a.Host+": ", ": "), said(a.Err))
	case a.Status >= http.StatusBadRequest || a.Status < http.StatusOK:
		c.Status, c.Observed = check.Fail, message.F("%s answers %d %s", a.Host, a.Status, http.StatusText(a.Status))
	default:
		c.Status, c.Fix, c.Observed = check.Pass, message.Text{}, message.F("%s answers %d", a.Host, a.Status)
	}
	return c
}

func judgeRoutes(s *State, o Options) check.Check {
	c := check.Check{
		ID: "routes", Title: message.T("Web addresses of the cluster (routes)"), Expected: message.T("taken by the router"),
		Source: message.T("Route status.ingress Admitted=True"), Fix: message.T("Wait a few minutes; an address that keeps its old name is made again by its service."),
	}
	if o.Domain != "" {
		c.Expected = message.F("%s, below %s", c.Expected, o.Domain)
	}
	if c, no := unread(s, c, "routes"); no {
		return c
	}
	var f faults
	good := 0
	for i := range s.Routes {
		r := &s.Routes[i]
		name := r.Namespace + "/" + r.Name
		switch refusal := refused(r); {
		case refusal != (message.Text{}):
			f.add(platform(r.Namespace), message.F("%s is not taken: %s", name, refusal))
		case platform(r.Namespace) && !s.moved(r, o):
			f.add(false, message.F("%s still has its old name %s", name, shortList(names(hosts(r)))))
		default:
			good++
		}
	}
	for _, w := range sites {
		if h := s.host(w, o.Domain); h != "" && !o.may(h) && !s.bound(w) {
			f.add(true, message.F("no new address for: %s (only %s)", w.title, h))
		}
	}
	return f.judge(c, message.F("%d addresses, all taken", good))
}

// hosts are the names that the router serves a route under, or those wanted while it serves none.
func hosts(r *routev1.Route) []string {
	var names []string
	for _, in := range r.Status.Ingress {
		if in.Host != "" && !slices.Contains(names, in.Host) {
			names = append(names, in.Host)
		}
	}
	if len(names) == 0 && r.Spec.Host != "" {
		names = append(names, r.Spec.Host)
	}
	return names
}

// refused says why no router takes a route, "" when one does.
func refused(r *routev1.Route) message.Text {
	why := message.T("no router has looked at it yet")
	for _, in := range r.Status.Ingress {
		for _, cond := range in.Conditions {
			if cond.Type != routev1.RouteAdmitted {
				continue
			}
			if cond.Status == corev1.ConditionTrue {
				return message.Text{}
			}
			why = message.Data(firstLine(cond.Reason + " " + cond.Message))
		}
	}
	return why
}

// bound reports whether a route never moves: to a subdomain without a host the router appends its own domain, and the
// domain of an IngressController cannot be changed.
func bound(r *routev1.Route) bool { return r.Spec.Host == "" && r.Spec.Subdomain != "" }

// bound reports whether one of a site's routes never moves. The ingress canary's is the only such one.
func (s *State) bound(w site) bool {
	return slices.ContainsFunc(s.Routes, func(r routev1.Route) bool {
		return r.Namespace == w.namespace && slices.Contains(w.routes, r.Name) && bound(&r)
	})
}

// moved reports whether a route is below the new domain, or never has to be. A component that got a second route for its
// new name keeps the old one as a redirect.
func (s *State) moved(r *routev1.Route, o Options) bool {
	if bound(r) || slices.ContainsFunc(hosts(r), o.may) {
		return true
	}
	return slices.ContainsFunc(s.Routes, func(other routev1.Route) bool {
		return other.Namespace == r.Namespace && other.Name == r.Name+"-custom"
	})
}

// may tells whether a console may be served under a host.
func (o Options) may(host string) bool { return below(host, o.Domain) || slices.Contains(o.Kept, host) }

func below(host, domain string) bool { return domain == "" || strings.HasSuffix(host, "."+domain) }
