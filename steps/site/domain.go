package site

import (
	"regexp"
	"strings"
	"time"

	"touchdown/backend/message"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// maxDNSName is the longest domain name written as text (RFC 1035, 2.3.4: 255 octets on the wire).
	maxDNSName = 253
	// maxLabel is the longest part of a domain name (RFC 1035, 2.3.4).
	maxLabel = 63
	// maxClusterName keeps names that OpenShift makes out of it (infrastructure name plus suffix) within a label.
	maxClusterName = 54
	// longestRoute is the longest host in front of the domain that a cluster's own routes get when they are made again.
	longestRoute = "prometheus-k8s-federate-openshift-monitoring.apps."
	// maxStability is how long CI waits for a stable cluster (oc adm wait-for-stable-cluster --timeout=30m).
	maxStability = 30 * time.Minute
	// minWatchdog is longer than any single wait of a landing that goes well. Chosen.
	minWatchdog = 5 * time.Minute
	// maxWatchdog is half a working day: nobody waits longer at a console. Chosen.
	maxWatchdog = 4 * time.Hour
)

// siteName reports what is wrong with a label of a site.
func siteName(s string) error {
	if f := dnsName(s, "store-0042"); f != nil {
		return f
	}
	return nil
}

// ClusterName reports what is wrong with the first label of the cluster's domain.
func ClusterName(s string) error {
	if strings.Contains(s, ".") {
		return fault(message.T("write only the first part; the rest is the base domain"), message.F("is %s, which has a dot in it", shown(s)))
	}
	if f := dnsName(s, "store0042"); f != nil {
		return f
	}
	if len(s) > maxClusterName {
		return fault(message.T("choose a shorter name"), message.F("has %d characters, more than the %d that are allowed", len(s), maxClusterName))
	}
	return nil
}

// BaseDomain reports what is wrong with the domain below which the cluster lives.
func BaseDomain(s string) error {
	if strings.HasSuffix(s, ".") {
		return fault(message.T("remove the dot at the end"), message.F("is %s, which ends with a dot", shown(s)))
	}
	if f := dnsName(s, "example.com"); f != nil {
		return f
	}
	labels := strings.Split(s, ".")
	last := labels[len(labels)-1]
	switch {
	case numeric(last): // RFC 3696, 2: else it could be taken for an address
		return fault(message.T("write a domain name, for example example.com"), message.F("is %s, which ends with a number like an address does", shown(s)))
	case last == "localhost" || last == "invalid": // RFC 6761, 6.3 and 6.4
		return fault(message.T("use the domain of the site"), message.F("is %s, but .%s never resolves", shown(s), last))
	case inCluster(s):
		return fault(message.T("use the domain of the site"), message.F("is %s, the domain of the services inside every cluster", shown(s)))
	}
	if most := maxDNSName - len(longestRoute) - len("c."); len(s) > most {
		return fault(message.T("choose a shorter domain"), message.F("has %d characters; with the cluster's own host names in front %d are the most", len(s), most))
	}
	return nil
}

// inCluster tells the domains of services: one for which the cluster's own DNS answers alone (openshift/cluster-dns-operator
// pkg/operator/controller/controller_dns_configmap.go, clusterDomain), and its short form, which pods look
// for below that one first (Kubernetes documentation, "DNS for Services and Pods"): pods would not find what the site calls so.
func inCluster(domain string) bool {
	return domain == "cluster.local" || strings.HasSuffix(domain, ".cluster.local") || domain == "svc" || strings.HasSuffix(domain, ".svc")
}

// hostname reports what is wrong with a name for the node.
func hostname(s string) error {
	const most = 63 // the value of the label kubernetes.io/hostname (k8s.io/apimachinery, LabelValueMaxLength)
	if strings.HasSuffix(s, ".") {
		return fault(message.T("remove the dot at the end"), message.F("is %s, which ends with a dot", shown(s)))
	}
	if f := dnsName(s, "node-0042"); f != nil {
		return f
	}
	switch {
	case len(s) > most:
		return fault(message.T("choose a shorter name"), message.F("has %d characters, more than the %d of a node's name", len(s), most))
	case strings.HasPrefix(s, "localhost"):
		return fault(message.T("choose another name for the node"), message.F("is %s; a name that starts with localhost is taken for none", shown(s)))
	case numeric(s):
		return fault(message.T("use a letter in it"), message.F("is %s, which reads like an address", shown(s)))
	case inCluster(s):
		return fault(message.T("choose another name for the node"), message.F("is %s, which is a name of the services inside every cluster", shown(s)))
	}
	return nil
}

// stabilityWindow reports what is wrong with the time that a cluster has to stay healthy.
func stabilityWindow(s string) error {
	if f := parseableDuration(s); f != nil {
		return f
	}
	if d, _ := time.ParseDuration(s); d < time.Second || d > maxStability {
		return fault(message.T("write 1s to 30m"), message.F("is %s, outside of 1s to 30m", shown(s)))
	}
	return nil
}

// watchdog reports what is wrong with the time that a landing may go without progress.
func watchdog(s string) error {
	if f := parseableDuration(s); f != nil {
		return f
	}
	if d, _ := time.ParseDuration(s); d < minWatchdog || d > maxWatchdog {
		return fault(message.T("write 5m to 4h"), message.F("is %s, outside of 5m to 4h", shown(s)))
	}
	return nil
}

// Years of a time that can be the present: OpenShift 4.14, the oldest that is supported, is of October 2023, and no authority of a cluster
// is good for longer than ten years.
const firstYear, lastYear = 2023, 2099

// UTC reports what is wrong with a point in time.
func UTC(s string) error {
	t, err := time.Parse(time.RFC3339, s)
	if err == nil && (t.UTC().Year() < firstYear || t.UTC().Year() > lastYear) {
		return fault(message.T("write the time of day now, in UTC"), message.F("is in the year %d, which cannot be now", t.UTC().Year()))
	}
	if err != nil {
		return fault(message.T("write it like 2026-06-01T12:00:00Z"), message.F("is %s, which is not a date and time", shown(s)))
	}
	return nil
}

// questionID reports what is wrong with the id of a question.
func questionID(s string) error {
	if len(validation.IsDNS1123Label(s)) > 0 {
		return fault(message.T("use the id that the question shows, for example keep-network"), message.T("is not the id of a question"))
	}
	return nil
}

// placeholder is how the templates of documents mark a value that a person has to fill in: <name>, ${NAME} or {{ name }}. A single sign of
// these is a mistyped one.
var placeholder = regexp.MustCompile(`<[^<>]+>|\$\{[^{}]+\}|\{\{[^{}]+\}\}`)

func unfilled(s string) *Error {
	return fault(message.T("write the value that belongs there"), message.F("is %s, a placeholder that nobody filled in", shown(s)))
}

// dnsName names the commonest mistakes before it leaves the rest to DNS-1123.
func dnsName(s, example string) *Error {
	write := message.F("write it like %s", example)
	switch {
	case s == "":
		return fault(write, message.T("is missing"))
	case placeholder.MatchString(s):
		return unfilled(s)
	case strings.Contains(s, "://"):
		return fault(message.T("write the name without http:// and path"), message.F("is %s, a web address", shown(s)))
	case strings.ContainsAny(s, " \t"):
		return fault(message.T("remove the space"), message.F("is %s, which has a space in it", shown(s)))
	case strings.Contains(s, "_"):
		return fault(message.T("use - instead of _"), message.F("is %s, which has an underscore in it", shown(s)))
	case strings.HasPrefix(s, "*"):
		return fault(message.T("remove the *"), message.F("is %s, which starts with a wildcard", shown(s)))
	case strings.Contains(s, "..") || strings.HasPrefix(s, "."):
		return fault(write, message.F("is %s, which has nothing between two dots or before the first", shown(s)))
	case strings.ToLower(s) != s && len(validation.IsDNS1123Subdomain(strings.ToLower(s))) == 0:
		return fault(message.F("write %s", strings.ToLower(s)), message.F("is %s, which has upper-case letters in it", shown(s)))
	}
	for _, r := range s {
		if r > 0x7f {
			return fault(message.T("write it in its DNS form, which starts with xn--"), message.F("is %s, which has a letter that DNS does not know", shown(s)))
		}
	}
	for _, label := range strings.Split(s, ".") {
		if len(label) > maxLabel {
			return fault(message.T("choose a shorter name"), message.F("is %s, where one part has %d characters, more than %d", shown(s), len(label), maxLabel))
		}
		if len(validation.IsDNS1123Label(label)) > 0 {
			return fault(message.T("use letters a to z, digits and -, with a letter or digit at both ends"), message.F("is %s, which is not a DNS name", shown(s)))
		}
	}
	if len(s) > maxDNSName {
		return fault(message.T("choose a shorter name"), message.F("has %d characters, more than the %d of a domain name", len(s), maxDNSName))
	}
	return nil
}
