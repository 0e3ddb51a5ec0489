package health

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// Part is any object of which only conditions and a few words of its status are judged.
type Part struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		Conditions      []metav1.Condition `json:"conditions"`
		Phase           string             `json:"phase"`      // ClusterServiceVersion
		Reason          string             `json:"reason"`     //
		SyncStatus      string             `json:"syncStatus"` // SriovNetworkNodeState
		State           string             `json:"state"`      // LVMCluster
		ConnectionState struct {
			LastObservedState string `json:"lastObservedState"` // CatalogSource
		} `json:"connectionState"`
	} `json:"status"`
}

// name is how people name a part.
func (p *Part) name() string { return strings.TrimPrefix(p.Namespace+"/"+p.Name, "/") }

// condition returns what a part says of a condition, nil when it says nothing.
func (p *Part) condition(kind string) *metav1.Condition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// not returns why a condition has another status than the one wanted; "" when it has that, or is not told.
func (p *Part) not(kind string, want metav1.ConditionStatus) message.Text {
	cond := p.condition(kind)
	if cond == nil || cond.Status == want {
		return message.Text{}
	}
	return with(message.F("%s is %s", kind, string(cond.Status)), firstLine(cond.Reason+" "+cond.Message))
}

// Webhook is one that the API asks before it takes a change, and that a service of the cluster answers.
type Webhook struct {
	Name    string // of its configuration
	Service string // NAMESPACE/NAME
	Refuses bool   // without an answer the API refuses the change
}

// podMetrics is the one extension below .k8s.io that the platform brings; those for metrics of other kinds belong to what is installed
// beside it, such as KEDA.
const podMetrics = "v1beta1.metrics.k8s.io"

func judgeAPIServices(s *State) check.Check {
	c := check.Check{
		ID: "api-services", Title: message.T("Extensions of the API (APIServices)"), Expected: message.T("all available"), Source: message.T("APIService condition Available"),
		Fix: message.T("Wait a few minutes; if it stays, check the pods of the service that is named."),
	}
	var f faults
	if c, no := unreadWide(s, c, "apiservices"); no {
		return c
	}
	for _, p := range s.Wide.APIServices {
		if why := p.not("Available", metav1.ConditionTrue); why != (message.Text{}) {
			f.add(strings.HasSuffix(p.Name, ".openshift.io") || p.Name == podMetrics, message.F("%s: %s", p.Name, why))
		}
	}
	return f.judgeOf(c, len(s.Wide.APIServices), message.T("all available"))
}

// judgeWebhooks finds webhooks that nobody answers: each change of what they watch is refused, after a timeout.
func judgeWebhooks(s *State) check.Check {
	c := check.Check{
		ID: "webhooks", Title: message.T("Admission webhooks"), Expected: message.T("each of them answers"),
		Source: message.T("webhook configurations; ready endpoints of their services (EndpointSlices)"),
		Fix:    message.T("Check the pods of the service that is named; remove the webhook if its operator is gone."),
	}
	if c, no := unreadWide(s, c, "webhooks", "slices"); no {
		return c
	}
	answered := map[string]bool{}
	for i := range s.Wide.Slices {
		e := &s.Wide.Slices[i]
		for _, p := range e.Endpoints {
			if p.Conditions.Ready == nil || *p.Conditions.Ready { // not said counts as ready
				answered[e.Namespace+"/"+e.Labels["kubernetes.io/service-name"]] = true
			}
		}
	}
	var faults []message.Text
	for _, h := range s.Wide.Webhooks {
		if h.Refuses && !answered[h.Service] {
			faults = append(faults, message.F("%s: nobody answers for %s", h.Name, h.Service))
		}
	}
	sorted(faults)
	return found(c, check.Warn, slices.Compact(faults), message.F("%d, all answered", len(s.Wide.Webhooks)))
}

// addOn is an API of what may be installed beside the platform, and what is wrong with one of its objects.
type addOn struct {
	group, resource string
	title           message.Text // before the name of an object
	selector        string
	wrong           func(*Part) message.Text
}

// key is the place of an add-on in Wide.Parts.
func (a addOn) key() string { return a.group + "/" + a.resource }

func (p *Part) degraded() message.Text {
	return both(p.not("Degraded", metav1.ConditionFalse), p.not("Available", metav1.ConditionTrue))
}

// both are two reasons, of which either may be missing.
func both(a, b message.Text) message.Text {
	switch (message.Text{}) {
	case a:
		return b
	case b:
		return a
	}
	return message.F("%s; %s", a, b)
}

// olm are the objects of the Operator Lifecycle Manager. It copies a ClusterServiceVersion into every namespace that its operator
// watches; the copies tell nothing new.
var olm = []addOn{
	{"operators.coreos.com/v1alpha1", "clusterserviceversions", message.T("operator"), "!olm.copiedFrom", func(p *Part) message.Text {
		switch p.Status.Phase {
		case "Succeeded", "Replacing", "Deleting", "":
			return message.Text{}
		}
		return message.F("is %s", strings.TrimSpace(p.Status.Phase+" "+p.Status.Reason))
	}},
	{"operators.coreos.com/v1alpha1", "subscriptions", message.T("subscription"), "", func(p *Part) message.Text {
		for _, kind := range []string{"ResolutionFailed", "CatalogSourcesUnhealthy", "BundleUnpackFailed", "InstallPlanFailed"} {
			if why := p.not(kind, metav1.ConditionFalse); why != (message.Text{}) {
				return why
			}
		}
		return message.Text{}
	}},
	{"operators.coreos.com/v1alpha1", "catalogsources", message.T("catalog"), "", func(p *Part) message.Text {
		switch state := p.Status.ConnectionState.LastObservedState; state {
		case "READY", "IDLE", "": // nobody has asked an idle one lately
			return message.Text{}
		default:
			return message.F("does not answer (%s)", state)
		}
	}},
}

// addOns are the operators that a site may have beside the platform.
var addOns = []addOn{
	{"sriovnetwork.openshift.io/v1", "sriovnetworknodestates", message.T("SR-IOV of"), "", func(p *Part) message.Text {
		if st := p.Status.SyncStatus; st != "Succeeded" && st != "" {
			return message.F("is %s", st)
		}
		return message.Text{}
	}},
	{"performance.openshift.io/v2", "performanceprofiles", message.T("performance profile"), "", (*Part).degraded},
	{"tuned.openshift.io/v1", "profiles", message.T("tuning of"), "", func(p *Part) message.Text {
		return both(p.not("Degraded", metav1.ConditionFalse), p.not("Applied", metav1.ConditionTrue))
	}},
	{"nmstate.io/v1", "nodenetworkconfigurationpolicies", message.T("network policy"), "", func(p *Part) message.Text {
		if c := p.condition("Ignored"); c != nil && c.Status == metav1.ConditionTrue { // it is for no node that is here
			return message.Text{}
		}
		return p.degraded()
	}},
	{"lvm.topolvm.io/v1alpha1", "lvmclusters", message.T("LVM storage"), "", func(p *Part) message.Text {
		if p.Status.State == "Degraded" || p.Status.State == "Failed" {
			return message.F("is %s", p.Status.State)
		}
		return message.Text{}
	}},
	{"operator.open-cluster-management.io/v1", "klusterlets", message.T("agent of the hub"), "", func(p *Part) message.Text {
		return both(p.not("Available", metav1.ConditionTrue), p.not("HubConnectionDegraded", metav1.ConditionFalse))
	}},
}

// readParts asks which APIs the cluster has, and reads only those.
func (w *Wide) readParts(ctx context.Context, c *kube.Cluster) error {
	raw, err := c.Core.RESTClient().Get().AbsPath("/apis").DoRaw(ctx)
	if err != nil {
		return err
	}
	var has metav1.APIGroupList
	if err := json.Unmarshal(raw, &has); err != nil {
		return fmt.Errorf("decoding the list of APIs: %w", err)
	}
	var versions []string
	for _, g := range has.Groups {
		for _, v := range g.Versions {
			versions = append(versions, v.GroupVersion)
		}
	}
	var all sync.WaitGroup
	for _, a := range slices.Concat(olm, addOns) {
		if slices.Contains(versions, a.group) {
			all.Go(func() { w.readPart(ctx, c, a) })
		}
	}
	all.Wait()
	return nil
}

func (w *Wide) readPart(ctx context.Context, c *kube.Cluster, a addOn) {
	raw, err := c.Core.RESTClient().Get().AbsPath("/apis/"+a.key()).Param("labelSelector", a.selector).Param("limit", "200").DoRaw(ctx)
	var l struct {
		Items []Part `json:"items"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	switch {
	case err == nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.Parts[a.key()] = l.Items
	case !missing(err): // a group may lack one of the resources
		w.fail(a.key(), err)
	}
}

func judgeOLM(s *State) check.Check {
	return judgeAddOns(s, olm, check.Check{
		ID: "olm", Title: message.T("Installed operators (OLM)"), Expected: message.T("installed, their catalogs answer"),
		Source: message.T("ClusterServiceVersion phase, Subscription conditions, CatalogSource connectionState"),
		Fix:    message.T("Check the operator that is named. A catalog without a registry does not answer; installed operators run without it."),
	})
}

func judgeOptional(s *State) check.Check {
	return judgeAddOns(s, addOns, check.Check{
		ID: "add-ons", Title: message.T("Settings of installed operators"), Expected: message.T("applied, not degraded"),
		Source: message.T("status of SR-IOV node states, performance and tuning profiles, network policies, LVM clusters, klusterlets"),
		Fix:    message.T("Check the operator that is named: its message says what it misses."),
	})
}

// judgeAddOns only warns: what a site installs beside the platform does not keep the node from working.
func judgeAddOns(s *State, all []addOn, c check.Check) check.Check {
	if c, no := unreadWide(s, c, "parts"); no {
		return lenient(c)
	}
	var faults []message.Text
	count, failed := 0, error(nil)
	for _, a := range all {
		failed = errors.Join(failed, s.Wide.Errors[a.key()])
		parts := s.Wide.Parts[a.key()]
		count += len(parts)
		for i := range parts {
			if why := a.wrong(&parts[i]); why != (message.Text{}) {
				faults = append(faults, message.F("%s %s: %s", a.title, parts[i].name(), why))
			}
		}
	}
	sorted(faults)
	switch {
	case len(faults) > 0:
		return found(c, check.Warn, faults, message.Text{})
	case failed != nil:
		return lenient(unreadable(c, failed))
	case count == 0:
		return absent(c)
	}
	return found(c, check.Warn, nil, message.F("%d, all well", count))
}

func unreadable(c check.Check, err error) check.Check {
	c, _ = unread(&State{Errors: map[string]error{"": err}}, c, "")
	return c
}
