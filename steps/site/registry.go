package site

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

const (
	// maxURL is more than any proxy's URL needs. Chosen.
	maxURL = 2048
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
	if f := imageLocation(s); f != nil {
		return f
	}
	return nil
}

// MirrorLocations reports what is wrong with the list of a source's mirrors.
func MirrorLocations(s string) error { return eachOf(s, maxMirrors, imageLocation) }

// MirrorSourcePolicy reports what is wrong with the policy of a mirror.
func MirrorSourcePolicy(s string) error { return oneOf(s, mirrorPolicies) }

// imageLocation wants host[:port][/path], as the mirror sets of config.openshift.io/v1 do.
func imageLocation(s string) *Error {
	const example = "registry.example.com:5000/ocp"
	server, path, deeper := strings.Cut(s, "/")
	host, port, hasPort := strings.Cut(server, ":")
	switch {
	case s == "":
		return fault("write it like "+example, "is missing")
	case strings.Contains(s, "://"):
		return fault("write it like "+example+", without http://", "is %s, a web address", shown(s))
	case strings.Contains(s, "@"):
		return fault("leave out what follows the name of the repository", "names a digest or a user")
	case deeper && strings.Contains(path, ":"):
		return fault("leave the tag out; it applies to all of them", "is %s, which has a tag", shown(s))
	case hasPort && Port(port) != nil:
		return fault("write it like "+example, "is %s, where %s is no port", shown(s), shown(port))
	case deeper && !repository.MatchString(path):
		return fault("write it like "+example, "is %s, where what follows the first / is no repository", shown(s))
	}
	return registryHost(host)
}

// RegistryHostname reports what is wrong with the name of a registry.
func RegistryHostname(s string) error {
	if strings.Contains(s, ":") && !strings.Contains(s, "://") {
		return fault("write the port as registryPort", "is %s, which has a port", shown(s))
	}
	if strings.Contains(s, "/") && !strings.Contains(s, "://") {
		return fault("write the name of the registry alone", "is %s, which has a path", shown(s))
	}
	if f := registryHost(s); f != nil {
		return f
	}
	return nil
}

func registryHost(s string) *Error {
	if looksLikeAddress(s) {
		addr, f := parseAddress(s)
		if f != nil {
			return f
		}
		return reachable(addr)
	}
	return dnsName(s, "registry.example.com")
}

// ProxyURL reports what is wrong with the URL of a proxy. Its errors never hold any of it, since it can hold a password.
func ProxyURL(s string) error {
	encode := "write special characters of user and password as % and two digits, for example %40 for @"
	u, err := url.Parse(s)
	switch {
	case !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://"):
		return fault("write it like http://proxy.example.com:3128", "does not start with http:// or https://")
	case strings.Count(s, "@") > 1 || strings.ContainsAny(s, "# \t\\"):
		return fault(encode, "has a character that a URL cannot hold")
	case err != nil:
		return fault(encode, "is no URL")
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery:
		return fault("write it like http://proxy.example.com:3128; "+encode, "has something behind the proxy's address")
	case u.Port() != "" && Port(u.Port()) != nil || strings.HasSuffix(u.Host, ":"):
		return fault("write a port from 1 to 65535", "has a port that does not exist")
	}
	if u.User != nil && u.User.Username() == "" {
		return fault("write it like http://user:password@proxy.example.com:3128", "has a log-in without a user")
	}
	if f := hostOrAddress(u.Hostname()); f != nil {
		return fault("write it like http://proxy.example.com:3128", "names no proxy: neither a host name nor an address")
	}
	return nil
}

// holdsPassword reports whether a URL may hold a log-in; one that cannot be read counts as if it did.
func holdsPassword(s string) bool { return strings.Contains(s, "@") }

// NoProxy reports what is wrong with the list of what is reached without the proxy.
func NoProxy(s string) error {
	for item := range strings.SplitSeq(s, ",") {
		if f := noProxyItem(strings.TrimSpace(item)); f != nil {
			return f
		}
	}
	return nil
}

func noProxyItem(s string) *Error {
	switch {
	case s == "":
		return fault("remove one of the commas", "has nothing between two commas, or at an end")
	case s == "*":
		return nil
	case strings.Contains(s, "/") && !strings.Contains(s, "://"):
		if _, err := netip.ParsePrefix(s); err != nil {
			return fault("write it like 198.51.100.0/24", "has %s, which is no subnet", shown(s))
		}
		return nil
	case strings.HasPrefix(s, "*."):
		return fault("write "+shown(s[1:]), "has %s; everything below a domain starts with a dot here", shown(s))
	}
	f := hostOrAddress(strings.TrimPrefix(s, "."))
	if f != nil {
		f.Msg = "has an entry that " + f.Msg
	}
	return f
}
