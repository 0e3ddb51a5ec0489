package site

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// secretGroups are the groups of an interface in nmstate that have secrets, with their keys that are none. Whatever else is below
// such a group counts as a secret: it may be one in the wrong place.
var secretGroups = map[string][]string{
	"802.1x": {"identity", "eap-methods", "client-cert", "ca-cert", "phase2-auth"},
	"macsec": {"encrypt", "base-iface", "mka-ckn", "port", "validation", "send-sci", "offload"},
	"libreswan": {
		"right", "rightid", "rightrsasigkey", "rightcert", "left", "leftid", "leftrsasigkey", "leftcert", "ikev2", "ikelifetime", "salifetime",
		"ike", "esp", "dpddelay", "dpdtimeout", "dpdaction", "ipsec-interface", "authby", "rightsubnet", "leftsubnet", "leftmodecfgclient",
		"type", "hostaddrfamily", "clientaddrfamily", "require-id-on-certificate",
	},
}

// secretWords are parts of the names of keys whose values are secret, in nmstate and in NetworkManager's profiles.
var secretWords = []string{"password", "passwd", "passphrase", "secret", "psk", "mka-cak", "wep-key", "pin-value"}

func isSecretKey(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(key, word) })
}

// holdsNetworkSecret reports whether a desired state may hold a secret. It goes by the keys as they are parsed: YAML can write
// "pass\u0077ord", too. One that cannot be read is searched as text, and counts as secret where a backslash may hide a key.
func holdsNetworkSecret(s string) bool {
	root := networkTree(s)
	if root == nil {
		return isSecretKey(s) || strings.Contains(s, `\`)
	}
	held := false
	eachSecret(root, false, func(string) { held = true })
	return held
}

// networkSecrets returns the secrets in a desired state, each as it reads when it is parsed: that is how others repeat it.
func networkSecrets(s string) []string {
	var found []string
	if root := networkTree(s); root != nil {
		eachSecret(root, false, func(secret string) { found = append(found, secret) })
		return found
	}
	for _, m := range besideSecretKey.FindAllStringSubmatch(s, -1) {
		found = append(found, m[1])
	}
	return found
}

// besideSecretKey finds what follows a secret key in a text that is not YAML yet.
var besideSecretKey = regexp.MustCompile(`(?i)(?:` + strings.Join(secretWords, "|") + `)[A-Za-z0-9_-]*["']?\s*[:=]\s*["']?([^\s"',}\]]+)`)

// networkTree returns the root of a desired state, or nil for a text that is not one YAML document of keys and values.
func networkTree(s string) *yaml.Node {
	dec := yaml.NewDecoder(strings.NewReader(s))
	var doc, next yaml.Node
	if decode(dec, &doc) != nil || len(doc.Content) == 0 || !errors.Is(decode(dec, &next), io.EOF) {
		return nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	return doc.Content[0]
}

// eachSecret calls f with every secret below n, the empty one of a key that waits for its value too. secret says that n itself is
// below a secret key.
func eachSecret(n *yaml.Node, secret bool, f func(string)) {
	switch n.Kind {
	case yaml.ScalarNode:
		if secret {
			f(n.Value)
		}
	case yaml.AliasNode: // its anchor is somewhere in the document, where its value may be no secret
		if secret {
			f(n.Alias.Value)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			eachSecretOf(n.Content[i], n.Content[i+1], secret, f)
		}
	default:
		for _, item := range n.Content {
			eachSecret(item, secret, f)
		}
	}
}

// eachSecretOf is eachSecret for a key and its value. A key that is not plain text counts as secret, since it may read like any.
func eachSecretOf(key, value *yaml.Node, secret bool, f func(string)) {
	plain, group := secretGroups[key.Value]
	secret = secret || isSecretKey(key.Value) || plainKey(key) != nil
	if !group || secret || value.Kind != yaml.MappingNode {
		eachSecret(value, secret || group, f)
		return
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, below := value.Content[i], value.Content[i+1]
		switch {
		case slices.Contains(plain, name.Value):
			eachSecretOf(name, below, false, f)
		case name.Value == "private-key" && strings.HasPrefix(below.Value, "/"): // a file; anything else may be a token's PIN
		default:
			if !isSecretKey(name.Value) {
				f(name.Value)
			}
			eachSecret(below, true, f)
		}
	}
}
