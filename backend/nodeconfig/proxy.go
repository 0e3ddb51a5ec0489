package nodeconfig

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// proxied are the units that get a drop-in with the first proxy, and lose it with the last (openshift/machine-config-operator,
// templates/common/_base/units, *.service-proxy.yaml, 4.14 to 4.21).
var proxied = []string{"crio.service", "kubelet.service", "rpm-ostreed.service"}

// proxy sets the URLs and adds to the list of what must not go through it. The network operator adds the cluster's own names and
// networks in the status.
func (w Want) proxy(ctx context.Context, c Reader) ([]Change, error) {
	if w.Proxy.HTTP == "" && w.Proxy.HTTPS == "" {
		return nil, nil
	}
	if err := w.Proxy.sourceable(); err != nil {
		return nil, err
	}
	now, err := c.Get(ctx, kube.Config("proxies"))
	if err != nil {
		return nil, err
	}
	skip := w.Proxy.around(text(now, "spec", "noProxy"))
	set := map[string]string{"httpProxy": w.Proxy.HTTP, "httpsProxy": w.Proxy.HTTPS, "noProxy": strings.Join(skip, ",")}
	var units []string
	if text(now, "status", "httpProxy") == "" && text(now, "status", "httpsProxy") == "" {
		units = proxied
	}
	o := object{
		Change: Change{
			What: message.T("Proxy"), Units: units, Old: described(text(now, "spec", "httpProxy"), text(now, "spec", "httpsProxy")),
			New:  message.F("%s; not for %s", described(w.Proxy.HTTP, w.Proxy.HTTPS), strings.Join(skip, ", ")),
			File: proxyFile, Renders: true,
			In: func(r Config) bool { return w.Proxy.in(r.Files[proxyFile], skip) },
		},
		ref: kube.Config("proxies"), kind: kube.New{Kind: "Proxy"},
		change: func(spec map[string]any) error {
			for key, value := range set {
				if value != "" {
					spec[key] = value
				}
			}
			return nil
		},
	}
	return compared(ctx, c, o)
}

// everything in the list means that nothing goes through the proxy. The network operator takes it alone: beside others it refuses the whole
// proxy as invalid (openshift/cluster-network-operator 2a6a57fef, pkg/controller/proxyconfig/validation.go; since release-4.14).
const everything = "*"

// around adds to a list what must not go through the proxy.
func (p Proxy) around(list string) []string {
	skip := fields(list)
	for _, n := range p.NoProxy {
		if !slices.Contains(skip, n) {
			skip = append(skip, n)
		}
	}
	if slices.Contains(skip, everything) {
		return []string{everything}
	}
	return skip
}

// in tells whether the node's file has the proxies, and what must not go through them; skip is all of that. The operator writes each URL as
// it is behind its name (openshift/machine-config-operator, templates/common/_base/files/etc-mco-proxy.yaml, 4.14 to 4.21).
func (p Proxy) in(env string, skip []string) bool {
	lines := strings.Split(env, "\n")
	for name, url := range map[string]string{"HTTP_PROXY=": p.HTTP, "HTTPS_PROXY=": p.HTTPS} {
		if url != "" && !slices.Contains(lines, name+url) {
			return false
		}
	}
	if slices.Contains(skip, everything) {
		return strings.Contains(env, "NO_PROXY="+everything)
	}
	return !slices.ContainsFunc(p.NoProxy, func(n string) bool { return !strings.Contains(env, n) })
}

// described shows proxies without who logs in there: a user without a password can be a token.
func described(urls ...string) message.Text {
	var out []message.Text
	for _, text := range urls {
		if text == "" {
			continue
		}
		shown := message.T("<a URL that cannot be read>")
		if u, err := url.Parse(text); err == nil && u.Host != "" { // without a scheme all of it would pass for a path, the password too
			if u.User != nil {
				u.User = url.User("xxxxx") // as Go writes a password that it leaves out
			}
			shown = message.Data(u.String())
		}
		if !slices.Contains(out, shown) {
			out = append(out, shown)
		}
	}
	return message.Join(out, ", ")
}
