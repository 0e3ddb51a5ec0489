// Package secrets has secrets of many kinds, as services, people and files write them, for tests that want none of them in what leaves a node.
package secrets

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// planted is in each of them, plain or coded.
const planted = "pl4ntedSecretValuepl4ntedSecretValue0123"

// CutKey is a kind that stands at the beginning of a text only: the rest of a key whose begin was cut off.
const CutKey = "end of a key that is cut"

// Kinds are secrets by what they are.
var Kinds = map[string]string{
	"PEM key":                  "-----BEGIN RSA PRIVATE KEY-----\n" + planted + "\n-----END RSA PRIVATE KEY-----",
	"PEM key in a JSON text":   `{"key.pem":"-----BEGIN EC PRIVATE KEY-----\n` + planted + `\n-----END EC PRIVATE KEY-----\n"}`,
	"PEM key in a data URL":    "data:," + url.PathEscape("-----BEGIN PRIVATE KEY-----\n"+planted+"\n-----END PRIVATE KEY-----"),
	"PGP key":                  "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + planted + "\n-----END PGP PRIVATE KEY BLOCK-----",
	"SSH key that was cut":     "-----BEGIN OPENSSH PRIVATE KEY-----\n" + planted,
	"PEM key in base64":        "data: " + base64.StdEncoding.EncodeToString([]byte("-----BEGIN PRIVATE KEY-----\n"+planted+"\n-----END PRIVATE KEY-----")),
	"key of a Secret":          "  tls.key: " + planted,
	"kubeconfig key":           "    client-key-data: " + planted,
	"kubeconfig token":         "- name: admin\n  user:\n    token: " + planted,
	"kubeconfig in JSON":       `{"users":[{"name":"admin","user":{"token":"` + planted + `"}}]}`,
	"pull secret":              `{"auths":{"quay.io":{"auth":"` + planted + `","email":"a@example.com"}}}`,
	"pull secret, quoted":      `msg="got {\"auths\":{\"quay.io\":{\"auth\":\"` + planted + `\"}}}"`,
	"pull secret in base64":    ".dockerconfigjson: " + base64.StdEncoding.EncodeToString([]byte(`{"auths":{"quay.io":{"auth":"`+planted+`"}}}`)),
	"pull secret in Ignition":  `"source":"data:text/plain;base64,` + base64.StdEncoding.EncodeToString([]byte(`{"auths":{"q":{"auth":"`+planted+`"}}}`)) + `"`,
	"registry password":        "podman login -u admin --password " + planted + " registry.example.com",
	"URL with a password":      "proxy http://user:" + planted + "@proxy.example.com:3128 failed",
	"URL, @ in the password":   "proxy http://user:p@" + planted + "@proxy.example.com:3128",
	"URL, / in the password":   "proxy http://user:p/" + planted + "@proxy.example.com:3128",
	"URL with a token":         "cloning https://" + planted + "@git.example.com/site.git",
	"URL that was signed":      "GET https://s3.example.com/b?X-Amz-Credential=a&X-Amz-Signature=" + planted + " 403",
	"token in a query":         `Get "https://api.example.com/x?access_token=` + planted + `&n=1"`,
	"bearer":                   "Authorization: Bearer " + planted,
	"bearer in a Go header":    "map[Accept:[*/*] Authorization:[Bearer " + planted + "]]",
	"token in a Go header":     "map[X-Auth-Token:[" + planted + "]]",
	"digest":                   `Authorization: Digest username="core", response="` + planted + `"`,
	"AWS signature":            "Authorization: AWS4-HMAC-SHA256 Credential=A/b, Signature=" + planted,
	"cookie":                   "Set-Cookie: session=" + planted + "; Path=/",
	"OAuth token":              "login with sha256~" + planted,
	"JSON web token":           "sent eyJhbGciOiJSUzI1NiIs." + planted + ".abc",
	"GitHub token":             "using ghp_" + planted,
	"AWS secret key":           "aws_secret_access_key = " + planted,
	"GitLab token":             "glpat-" + planted,
	"age identity":             "AGE-SECRET-KEY-1" + strings.ToUpper(planted),
	"PIN":                      "PIN: " + planted,
	"PIN of a modem":           "pin=" + planted,
	"WPA keyfile":              "[wifi-security]\nkey-mgmt=wpa-psk\npsk=two words " + planted,
	"WPA keyfile, signs":       "psk=a,b;c\"d'e&f" + planted,
	"WEP keyfile":              "wep-key0=" + planted,
	"802.1x keyfile":           "[802-1x]\nidentity=node\npassword=" + planted,
	"802.1x key password":      "private-key-password=" + planted,
	"802.1x raw password":      "password-raw=" + planted,
	"wpa_supplicant":           "\tpsk=\"" + planted + " and more\"",
	"WireGuard":                "PrivateKey = " + planted,
	"SNMP":                     "community: " + planted,
	"environment":              "REGISTRY_PASSWORD=" + planted,
	"environment of a pod":     `{"name":"DB_PASSWORD","value":"` + planted + `"}`,
	"environment in Go":        "{Name:DB_PASSWORD Value:" + planted + " ValueFrom:nil}",
	"environment in YAML":      "- name: DB_PASSWORD\n  value: " + planted,
	"YAML block":               "  password: |\n    " + planted + "\n  next: 1",
	"quotation with a quote":   `password="a\"b ` + planted + `"`,
	"quotation that was cut":   `password="` + planted,
	"apostrophes":              "passphrase='" + planted + "'",
	"netrc":                    "machine git.example.com login core password " + planted,
	"curl":                     "curl -k -u core:" + planted + " https://bmc.example.com/redfish/v1",
	"bcrypt":                   "core:$2a$10$" + planted,
	"shadow":                   "core:$6$rounds=5000$" + planted + ":19000:0:99999:7:::",
	"LUKS passphrase":          "luks passphrase: " + planted,
	"join":                     "kubeadm join --token abcdef.0123456789abcdef " + planted[:0],
	"end of a key that is cut": planted + "\n-----END PRIVATE KEY-----\nmore",
}

// Leak tells whether a text has a part of what was planted, plain or in base64.
func Leak(text string) bool {
	text = strings.ToLower(text)
	for _, part := range []string{planted[:12], planted[18:36], "0123456789abcdef", base64.StdEncoding.EncodeToString([]byte(planted))[8:24]} {
		if strings.Contains(text, strings.ToLower(part)) {
			return true
		}
	}
	return false
}
