package nodeconfig

import (
	"strings"

	"touchdown/backend/problem"
)

// literal lists the characters, besides ASCII letters and digits, that a shell does not change in the value of an assignment.
// It leaves out ~, which a shell replaces by a home directory after a colon.
const literal = "-._:/@%[]+,="

// sourceable refuses values that a shell would change or run: the operator writes proxies unquoted to /etc/mco/proxy.env, which
// scripts of the node source as root. The site config refuses the same, and can say which character it is; a URL is never repeated, since it
// can hold a password.
func (p Proxy) sourceable() error {
	for _, value := range append([]string{p.HTTP, p.HTTPS}, p.NoProxy...) {
		odd := func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(literal, r)
		}
		if strings.ContainsFunc(value, odd) {
			return &problem.Problem{
				Code: "PRX-CHAR", Summary: "The proxy's settings have a character that the node's scripts would not read as part of them.",
				Fix: "Correct spec.proxy: write special characters of user and password as % and two digits.",
			}
		}
	}
	return nil
}
