package health

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// Identity is where the cluster notes its names and addresses, beside its nodes, routes and certificates.
type Identity struct {
	Ingress *configv1.Ingress
	DNS     *configv1.DNS
	Install *corev1.ConfigMap // the install-config
	Etcd    *corev1.ConfigMap // the members' addresses
	Clients []OAuthClient
}

// OAuthClient is who may send people to the login page, and where they come back to.
type OAuthClient struct {
	metav1.ObjectMeta `json:"metadata"`
	RedirectURIs      []string `json:"redirectURIs"`
}

// judgeNamesAgree looks for names of another identity. The cluster keeps the name of its installation, and after a move has that of
// its site beside it: a name below neither, which the owner did not choose either, is left over from elsewhere.
func judgeNamesAgree(s *State, o Options) check.Check {
	c := check.Check{
		ID: "identity-names", Title: message.T("One name everywhere"), Expected: message.T("only names of this cluster and its site"),
		Source: message.T("infrastructures, dnses, ingresses/cluster; install-config in kube-system/cluster-config-v1; OAuthClient redirectURIs"),
		Fix:    message.T("Run the wizard's move again: it sets each name that it finds different."),
	}
	if c, no := unreadWide(s, c, "ingress", "dns", "install", "clients"); no && c.Status == check.Fail || s.Wide == nil {
		return c
	}
	base := strings.TrimPrefix(apiHost(s.Infra), "api.")
	if base == "" {
		c.Status, c.Observed, c.Fix = check.Skip, message.T("not checked: the cluster does not say what its API is called"), message.Text{}
		return c
	}
	wrong := s.Wide.Identity.strangers(base, o)
	sorted(wrong)
	return found(c, check.Warn, wrong, message.Data(base))
}

// strangers are the places with a name that is neither below base, the name of the installation, nor below that of the site.
func (id *Identity) strangers(base string, o Options) (wrong []message.Text) {
	if id.DNS != nil && id.DNS.Spec.BaseDomain != base {
		wrong = append(wrong, message.F("dnses/cluster says %s, the API is at %s", id.DNS.Spec.BaseDomain, base))
	}
	if name := installed(id.Install); name != "" && name != base {
		wrong = append(wrong, message.F("the install-config says %s, the API is at %s", name, base))
	}
	known := slices.Clone(o.Kept)
	if id.Ingress != nil {
		if d := id.Ingress.Spec.Domain; d != "apps."+base {
			wrong = append(wrong, message.F("ingresses/cluster says %s, not apps.%s", d, base))
		}
		for _, r := range id.Ingress.Spec.ComponentRoutes {
			host := string(r.Hostname)
			if o.Domain != "" && !below(host, base) && !o.may(host) {
				wrong = append(wrong, message.F("ingresses/cluster names %s %s", r.Namespace+"/"+r.Name, host))
			}
			known = append(known, host)
		}
	}
	for i := range id.Clients {
		for _, host := range strays(&id.Clients[i], base, o.Domain, known) {
			wrong = append(wrong, message.F("OAuth client %s leads back to %s", id.Clients[i].Name, host))
		}
	}
	return wrong
}

// platformClients are the OAuth clients that belong to the cluster; others may lead anywhere.
var platformClients = []string{"console", "openshift-browser-client", "openshift-challenging-client"}

func strays(client *OAuthClient, base, domain string, known []string) (hosts []string) {
	if !slices.Contains(platformClients, client.Name) {
		return nil
	}
	for _, text := range client.RedirectURIs {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			continue
		}
		host := u.Hostname()
		if !below(host, base) && (domain == "" || !below(host, domain)) && !slices.Contains(known, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// installed is the cluster's name in the install-config; "" when it does not tell.
func installed(m *corev1.ConfigMap) string {
	if m == nil {
		return ""
	}
	var config struct {
		BaseDomain string `json:"baseDomain"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if text := m.Data["install-config"]; len(text) > 1<<20 || yaml.Unmarshal([]byte(text), &config) != nil || config.BaseDomain == "" {
		return ""
	}
	return config.Metadata.Name + "." + config.BaseDomain
}

// primaryAddress is where OVN-Kubernetes notes the address by which it knows a node; providedAddress is where kubelet notes the one
// that it was told.
const (
	primaryAddress  = "k8s.ovn.org/node-primary-ifaddr"
	providedAddress = "alpha.kubernetes.io/provided-node-ip"
)

// judgeAddressesAgree looks for addresses that no node of the cluster has.
func judgeAddressesAgree(s *State) check.Check {
	c := check.Check{
		ID: "identity-addresses", Title: message.T("One address everywhere"), Expected: message.T("only addresses that the node has"),
		Source: message.T("Node addresses against ConfigMap openshift-etcd/etcd-endpoints, endpoints of default/kubernetes and openshift-etcd, annotations of kubelet and OVN-Kubernetes"),
		Fix:    message.T("Check that br-ex has the node's internal address; then restart the service that still names the other one."),
	}
	if c, no := unread(s, c, "nodes"); no {
		return c
	}
	if c, no := unreadWide(s, c, "etcd-endpoints", "slices"); no && c.Status == check.Fail || s.Wide == nil {
		return c
	}
	own := nodeAddresses(s.Nodes)
	if len(own) == 0 {
		c.Status, c.Observed, c.Fix = check.Skip, message.T("not checked: the node's address is not known"), message.Text{}
		return c
	}
	var wrong []message.Text
	for _, p := range s.places() {
		if a, err := netip.ParseAddr(p.address); err == nil && !slices.Contains(own, a.Unmap()) {
			wrong = append(wrong, message.F("%s: %s", p.what, a))
		}
	}
	sorted(wrong)
	return found(c, check.Fail, slices.Compact(wrong), message.Data(joined(own)))
}

// place is where an address of a node is noted.
type place struct {
	what    message.Text
	address string
}

func (s *State) places() (all []place) {
	if m := s.Wide.Identity.Etcd; m != nil {
		for _, address := range m.Data {
			all = append(all, place{message.T("members of etcd"), address})
		}
	}
	for i := range s.Wide.Slices {
		e := &s.Wide.Slices[i]
		service := e.Namespace + "/" + e.Labels["kubernetes.io/service-name"]
		if service != "default/kubernetes" && e.Namespace != "openshift-etcd" {
			continue
		}
		for _, p := range e.Endpoints {
			for _, address := range p.Addresses {
				all = append(all, place{message.F("endpoint of %s", service), address})
			}
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for address := range strings.SplitSeq(n.Annotations[providedAddress], ",") {
			all = append(all, place{message.F("kubelet of %s", n.Name), address})
		}
		for _, address := range quotedPrefixes(n.Annotations[primaryAddress]) {
			all = append(all, place{message.F("OVN-Kubernetes on %s", n.Name), address})
		}
	}
	return all
}

// quotedPrefixes are the addresses of {"ipv4":"192.0.2.1/24","ipv6":"2001:db8::1/64"}.
func quotedPrefixes(text string) (addresses []string) {
	for part := range strings.SplitSeq(text, `"`) {
		if p, err := netip.ParsePrefix(part); err == nil {
			addresses = append(addresses, p.Addr().String())
		}
	}
	return addresses
}
