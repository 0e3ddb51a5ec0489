package site

import (
	"strconv"
	"strings"
	"testing"
)

// TestAnswersAreBounded holds that a document cannot bring so many answers that the engine has no time for anything else; one that is
// there can still be changed.
func TestAnswersAreBounded(t *testing.T) {
	c := New()
	for i := range maxItems {
		if err := c.Set(answers+"q"+strconv.Itoa(i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Set(answers+"one-more", "x"); err == nil || len(c.Spec.Policy.Answers) != maxItems {
		t.Errorf("%v, %d answers", err, len(c.Spec.Policy.Answers))
	}
	if err := c.Set(answers+"q0", "y"); err != nil {
		t.Error(err)
	}
	if err := c.Set(answers+"q0", ""); err != nil {
		t.Error(err)
	}
	if err := c.Set(answers+"one-more", "x"); err != nil {
		t.Error(err)
	}
}

// TestDesiredStateNames holds that a desired state names its servers and search domains as spec.network does, and that no error repeats
// what it has there.
func TestDesiredStateNames(t *testing.T) {
	for config, want := range map[string]string{
		"server: [198.51.100.53, '2001:db8::53'], search: [example.com, a.b]": "",
		"server: [127.0.0.1]":                          "has below dns-resolver, server, what cannot be one, in its line 3",
		"server: [s3same]":                             "has below dns-resolver, server, what cannot be one, in its line 3",
		"server: ['fe80::1%eth0']":                     "has below dns-resolver, server, what cannot be one, in its line 3",
		"search: [example.com, '~.']":                  "has below dns-resolver, search, what cannot be one, in its line 3",
		"search: ['a.b c.d']":                          "has below dns-resolver, search, what cannot be one, in its line 3",
		"server: [1.1.1.1, 1.1.1.2, 1.1.1.3, 1.1.1.4]": "has 4 entries below dns-resolver, server, more than the 3 that are allowed",
		"search: [example.com, apps.a.b]":              `has "apps.a.b": every name below it leads to this node`,
	} {
		text := "interfaces:\n- {name: enp1s0, ipv4: {enabled: true, dhcp: true}}\ndns-resolver: {config: {" + config + "}}\n"
		errs, _ := verdicts(t, map[string]string{networkConfig: text})
		if (want == "") != (errs == "") || !strings.Contains(errs, want) || strings.Contains(errs, "s3same") {
			t.Errorf("%s: %q", config, errs)
		}
	}
}

// TestNamesOfTheClusterAreNoNodes: the node's name leads to the node alone, so no name of the cluster is one.
func TestNamesOfTheClusterAreNoNodes(t *testing.T) {
	const itself, inside = "a name of the cluster itself", "a name of the services inside every cluster"
	for name, want := range map[string]string{
		"api.store.example.com": itself, "api-int.store.example.com": itself, "apps.store.example.com": itself, "x.apps.store.example.com": itself,
		"store.example.com": itself, "kubernetes.default.svc": inside, "node.cluster.local": inside,
		"node.store.example.com": "", "api": "", "api.other.example.com": "",
	} {
		errs, _ := verdicts(t, map[string]string{
			"spec.clusterName": "store", "spec.baseDomain": "example.com", "spec.hostname": name,
			"spec.policy.allowHostnameChange": "true", "spec.policy.allowReboot": "true",
		})
		if (want == "") != (errs == "") || !strings.Contains(errs, want) {
			t.Errorf("%s: %q", name, errs)
		}
	}
}

// TestPlaceholders: what a template left open is told as that, whatever else is wrong with it.
func TestPlaceholders(t *testing.T) {
	for _, name := range []string{"${CLUSTER_NAME}", "<cluster name>", "{{ name }}"} {
		for what, judged := range map[string]error{"cluster": ClusterName(name), "domain": BaseDomain(name + ".example.com"), "mirror": MirrorSource(name + ":8443")} {
			if judged == nil || !strings.Contains(judged.Error(), "a placeholder that nobody filled in") {
				t.Errorf("%s %s: %v", what, name, judged)
			}
		}
	}
	for _, list := range []func(string) error{mirrorLocations, DNSServers, NTPSources, dNSSearch} { // their items end at a space
		if err := list("{{ a server }}"); err == nil || !strings.Contains(err.Error(), `is "{{ a server }}", a placeholder that nobody filled in`) {
			t.Error(err)
		}
	}
	for _, name := range []string{"store$42", "store<42", "store>42", "{store}", "$store", "a>b<c", "${store", "{{store}"} {
		for _, err := range []error{ClusterName(name), MirrorSource("a.example.com/" + name)} {
			if err == nil || strings.Contains(err.Error(), "placeholder") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestColonsInTheSourceOfAMirror: what they stand before is told as that, and an IPv6 address only where there is one.
func TestColonsInTheSourceOfAMirror(t *testing.T) {
	const address = "begins with an IPv6 address; OpenShift's mirror sets do not take IPv6 addresses"
	for mirror, want := range map[string]string{
		"[2001:db8::1]:5000/ocp": address, "2001:db8::1/ocp": address, "2001:db8::1": address, "2001:5000::1": address, "[2001:db8::1]": address,
		"2001:db8:0:0:0:0:0:1:5000/ocp": address, "::1": address, "[2001:db8::1]:5000": address,
		"registry.example.com:5000:latest": "which has a tag", "registry.example.com:5000/ocp:latest": "which has a tag",
		"user:pw@registry.example.com:5000/ocp": "names a digest or a user", "registry.example.com:5000/ocp@sha256:abc": "names a digest or a user",
		"registry.example.com:latest:5000": "is not a port", "[registry.example.com]:5000/ocp": "is not a DNS name",
	} {
		if err := MirrorSource(mirror); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", mirror, err, want)
		}
	}
}
