package nodeconfig

import (
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

// sourceable refuses values that a shell would change or run: the operator writes proxies unquoted to /etc/mco/proxy.env, which
// scripts of the node source as root. The site config refuses the same, and can say which character it is; a URL is never repeated, since it
// can hold a password.
func (p Proxy) sourceable() error {
	for _, setting := range append([]string{p.HTTP, p.HTTPS}, p.NoProxy...) {
		if value.NotForScripts(setting) >= 0 {
			return &problem.Problem{
				Code: "PRX-CHAR", Summary: message.T("The proxy's settings have a character that the node's scripts would not read as part of them."),
				Fix: message.T("Correct spec.proxy: write special characters of user and password as % and two digits."),
			}
		}
	}
	return nil
}
