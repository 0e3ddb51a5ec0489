package site

import (
	"cmp"
	"slices"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

// nodeLabelsPath is the path of the labels.
const nodeLabelsPath = "spec.nodeLabels"

// labelEntries say by what labels workloads find the node.
var labelEntries = []entry{{
	Item:  Item{Path: nodeLabelsPath, Type: typeLabels, Meaning: "labels that the node gets once the cluster is well; those that Kubernetes and OpenShift set themselves are refused", Example: `{example.com/rack: "7", zone: berlin}`},
	limit: maxList, check: nodeLabels, younger: true,
	at: func(c *Config) any { return &c.Spec.NodeLabels },
}}

// ownedLabels are labels that others set: a site that sets one would be overruled, or would take what chooses by it from the cluster. A name
// that ends with / stands for all that begin with it. topology.kubernetes.io/zone and region are not among them: where no cloud provider
// sets them, Kubernetes' own documentation asks people to.
var ownedLabels = []struct {
	names []string
	why   message.Text
}{
	// The kubelet at each start (kubernetes/kubernetes pkg/kubelet/kubelet_node_status.go, initialNode and updateDefaultLabels, v1.34.1), the
	// controller of a cloud provider the rest; it also makes the stable ones like the beta ones (kubernetes/cloud-provider
	// controllers/node/node_controller.go, labelReconcileInfo, v0.34.1).
	{[]string{"kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "node.kubernetes.io/windows-build", "node.kubernetes.io/instance-type", "beta.kubernetes.io/", "failure-domain.beta.kubernetes.io/"}, message.T("the kubelet or a cloud provider sets it")},
	// The arguments of the kubelet; the pool master chooses its machines by them. worker comes and goes with mastersSchedulable
	// (openshift/machine-config-operator templates/*/01-*-kubelet, pkg/controller/node/node_controller.go, 4.14 to 4.22).
	{[]string{"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/worker", "node-role.kubernetes.io/arbiter", "node.openshift.io/os_id"}, message.T("OpenShift sets it")},
	// ovnkube-node does not run where there is dpu or dpu-host (openshift/cluster-network-operator
	// bindata/network/ovn-kubernetes/self-hosted/ovnkube-node.yaml).
	{[]string{"network.operator.openshift.io/"}, message.T("it takes the pods' network from the node")},
}

// labelOwner says whose a label is that a site must not set.
func labelOwner(name string) (why message.Text, owned bool) {
	for _, o := range ownedLabels {
		if slices.ContainsFunc(o.names, func(n string) bool { return n == name || strings.HasSuffix(n, "/") && strings.HasPrefix(name, n) }) {
			return o.why, true
		}
	}
	return why, false
}

// label reports what is wrong with one label, as the API does (k8s.io/apimachinery, ValidateLabels), and that it is not the site's to set.
func label(name, value string) *Error {
	switch why, owned := labelOwner(name); {
	case name == "":
		return fault(message.T("write it like zone=berlin"), message.T("has a label without a name"))
	case len(validation.IsQualifiedName(name)) > 0:
		return fault(message.T("use letters, digits and - _ . alone, 63 at most, with a letter or digit at both ends; a domain may stand in front, as in example.com/rack"), message.F("has %s, which is not the name of a label", shown(name)))
	case len(validation.IsValidLabelValue(value)) > 0:
		return fault(message.T("use letters, digits and - _ . alone, 63 at most, with a letter or digit at both ends; or leave it empty"), message.F("has for the label %s the value %s, which no label can have", name, shown(value)))
	case owned:
		return fault(message.T("remove it"), message.F("has the label %s, which is not for a site to set: %s", name, why))
	}
	return nil
}

// nodeLabels reports what is wrong with the labels of the node, written as name=value.
func nodeLabels(s string) error {
	all := separate(s)
	if len(all) > maxItems {
		return fault(message.T("check that it is the right file"), message.F("has %d labels, more than the %d that are allowed", len(all), maxItems))
	}
	for _, item := range all {
		name, value, _ := strings.Cut(item, "=")
		if f := label(name, value); f != nil {
			return f
		}
	}
	return nil
}

// holdsLabels reports labels that no map can hold.
func holdsLabels(s string) *Error {
	seen := map[string]bool{}
	for _, item := range separate(s) {
		name, _, full := strings.Cut(item, "=")
		if !full {
			return fault(message.T("write it like zone=berlin, or zone= for a label without a value"), message.F("has %s, which is not of the form name=value", shown(item)))
		}
		if seen[name] {
			return fault(message.T("keep one of them"), message.F("has the label %s twice", shown(name)))
		}
		seen[name] = true
	}
	return nil
}

// formatLabels writes labels as name=value, one a line.
func formatLabels(labels map[string]string) string {
	lines := make([]string, 0, len(labels))
	for name, value := range labels {
		lines = append(lines, name+"="+value)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// parseLabels reads what formatLabels wrote; nil for none.
func parseLabels(s string) map[string]string {
	var labels map[string]string
	for _, item := range separate(s) {
		if labels == nil {
			labels = map[string]string{}
		}
		name, value, _ := strings.Cut(item, "=")
		labels[name] = value
	}
	return labels
}

// labelsNode returns labels as YAML.
func labelsNode(s string) *yaml.Node {
	group := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, item := range separate(s) {
		name, value, _ := strings.Cut(item, "=")
		group.Content = append(group.Content, scalarNode(name, "!!str"), scalarNode(value, "!!str"))
	}
	return group
}

// labels reads a group of labels.
func (r *reader) labels(key, value *yaml.Node, path string) {
	if value.Tag == "!!null" && value.Anchor == "" {
		return // everything below it is commented out
	}
	if f := plainNode(value, yaml.MappingNode); f != nil {
		r.report(value, path, f)
		return
	}
	var lines []string
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, text := value.Content[i], value.Content[i+1]
		f := cmp.Or(plainKey(name), plainNode(text, yaml.ScalarNode))
		line := name.Value + "=" + text.Value
		switch {
		case f != nil:
		case text.Tag == "!!null":
			f = fault(message.T(`write "" for a label without a value`), message.F("has the label %s with nothing behind it", shown(name.Value)))
		case text.Tag != "!!str" && text.Tag != "!!timestamp":
			f = fault(message.T(`put it in quotes, for example rack: "7"`), message.F("has for the label %s %s where text is expected", shown(name.Value), article(text.Tag)))
		case strings.Contains(name.Value, "=") || !slices.Equal(separate(line), []string{line}): // as text it would be others
			f = label(name.Value, text.Value)
		}
		if f != nil {
			r.report(name, path, f)
			return
		}
		lines = append(lines, line)
	}
	if f := r.config.put(path, strings.Join(lines, "\n")); f != nil {
		r.report(value, path, f)
		return
	}
	r.took(key, path, "file "+r.name)
}
