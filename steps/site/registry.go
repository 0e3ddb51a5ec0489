package site

import (
	"net/netip"
	"regexp"
	"strings"

	"touchdown/backend/message"
)

const (
	// maxURL is more than any proxy's URL needs. Chosen.
	maxURL = 2048
	// maxImageName is the longest name of an image in bytes, from its registry on (containers/image, docker/reference, NameTotalLengthMax). What
	// follows the source is appended to its mirrors, see appended.
	maxImageName = 255
	// maxMirrors is how many places one source may have. Chosen.
	maxMirrors = 16
)

// mirrorPolicies are those of ImageDigestMirrorSet and ImageTagMirrorSet (config.openshift.io/v1).
var mirrorPolicies = []string{"AllowContactingSource", "NeverContactSource"}

// repository is the path of an image (distribution specification, name).
var repository = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)

// MirrorSource reports what is wrong with the source of a mirror.
func MirrorSource(s string) error {
	if domain, wildcard := strings.CutPrefix(s, "*."); wildcard {
		if f := dnsName(domain, "*.example.com"); f != nil {
			return f
		}
		return nil
	}
	if f := imageLocation(s, registryHost); f != nil {
		return f
	}
	return nil
}

// mirrorLocations reports what is wrong with the list of a source's mirrors.
func mirrorLocations(s string) error {
	return eachOf(s, maxMirrors, func(location string) *Error {
		if f := imageLocation(location, mirrorHost); f != nil {
			return f
		}
		return completed(location)
	})
}

// completed refuses a mirror that CRI-O would complete to another place: in a name without a server, that is docker.io. It then gives up the pull as a whole, from the other mirrors and the source too (containers/image 5.35,
// sysregistriesv2, rewriteReference and PullSourcesFromReference; docker/reference, splitDockerDomain).
func completed(location string) *Error {
	server, _, _ := strings.Cut(location, "/")
	switch {
	case !strings.ContainsAny(server, ".:") && server != "localhost":
		return fault(message.T("write the registry with its domain, or with its port"), message.F("is %s, which CRI-O takes for a folder of docker.io", shown(location)))
	case server == "index.docker.io":
		return fault(message.T("write docker.io"), message.F("is %s, which CRI-O does not pull from under this name", shown(location)))
	}
	return nil
}

// releaseImages have what OpenShift's releases consist of.
var releaseImages = []string{"quay.io/openshift-release-dev/ocp-v4.0-art-dev", "quay.io/openshift-release-dev/ocp-release"}

// appended is how much of the name of an image of OpenShift's is appended to the mirrors of a source, at most. Where that makes one longer
// than maxImageName the pull fails as a whole, from the other mirrors and the source too (containers/image, PullSourcesFromReference).
func appended(source string) (most int) {
	for _, image := range releaseImages {
		host, path, _ := strings.Cut(image, "/")
		domain, wildcard := strings.CutPrefix(source, "*")
		rest, below := strings.CutPrefix(image, source+"/")
		switch {
		case wildcard && strings.HasSuffix(host, domain):
			most = max(most, len("/"+path))
		case below:
			most = max(most, len("/"+rest))
		}
	}
	return most
}

// mirrorSourcePolicy reports what is wrong with the policy of a mirror.
func mirrorSourcePolicy(s string) error { return oneOf(s, mirrorPolicies) }

// imageLocation wants host[:port][/path], as the mirror sets of config.openshift.io/v1 do.
func imageLocation(s string, judge func(host string) *Error) *Error {
	const example = "registry.example.com:5000/ocp"
	server, path, deeper := strings.Cut(s, "/")
	host, port, hasPort := strings.Cut(server, ":")
	first, _, tagged := strings.Cut(port, ":")
	switch {
	case s == "":
		return fault(message.F("write it like %s", example), message.T("is missing"))
	case placeholder.MatchString(s):
		return unfilled(s)
	case strings.Contains(s, "://"):
		return fault(message.F("write it like %s, without http://", example), message.F("is %s, a web address", shown(s)))
	case strings.Contains(s, "@"):
		return fault(message.T("leave out what follows the name of the repository"), message.T("names a digest or a user"))
	case isIPv6(server):
		return fault(message.T("give the registry a name"), message.F("is %s, which begins with an IPv6 address; OpenShift's mirror sets do not take IPv6 addresses", shown(s)))
	case deeper && strings.Contains(path, ":"), tagged && Port(first) == nil:
		return fault(message.T("leave the tag out; it applies to all of them"), message.F("is %s, which has a tag", shown(s)))
	case hasPort && Port(port) != nil:
		return fault(message.F("write it like %s", example), message.F("is %s, where %s is not a port", shown(s), shown(port)))
	case len(s) > maxImageName:
		return fault(message.T("give a shorter path"), message.F("has %d characters; the name of an image has %d at most", len(s), maxImageName))
	case deeper && !repository.MatchString(path):
		return fault(message.F("write it like %s", example), message.F("is %s, where what follows the first / is not a repository", shown(s)))
	}
	return judge(host)
}

// isIPv6 tells whether a server is written as an IPv6 address, in brackets or without, and with a port or without.
func isIPv6(server string) bool {
	host, _, _ := strings.Cut(strings.TrimPrefix(server, "["), "]")
	port := host[max(strings.LastIndexByte(host, ':'), 0):]
	for _, is := range []string{host, strings.TrimSuffix(host, port)} {
		if addr, err := netip.ParseAddr(is); err == nil && addr.Is6() {
			return true
		}
	}
	return false
}

// registryHostname reports what is wrong with the name of a registry.
func registryHostname(s string) error {
	if strings.Contains(s, ":") && !strings.Contains(s, "://") {
		return fault(message.T("write the port as registryPort"), message.F("is %s, which has a port", shown(s)))
	}
	if strings.Contains(s, "/") && !strings.Contains(s, "://") {
		return fault(message.T("write the name of the registry alone"), message.F("is %s, which has a path", shown(s)))
	}
	if f := registryHost(s); f != nil {
		return f
	}
	return nil
}

// mirrorHost takes an address of the machine itself as well, as names of it: a registry may run there as a service. judgeServers warns of it.
func mirrorHost(s string) *Error {
	if loopback(s) {
		return nil
	}
	return registryHost(s)
}

func registryHost(s string) *Error {
	if looksLikeAddress(s) {
		addr, f := parseAddress(s, anyFamily())
		if f != nil {
			return f
		}
		return reachable(addr)
	}
	return dnsName(s, "registry.example.com")
}
