package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"touchdown/test/bench/landing"
	"touchdown/test/wait"
)

// nodeState prints of a node what a landing changes on its disk and in its network, without what is random: identities
// of profiles, and which address a DHCP server gave.
const nodeState = `
echo "addresses $(ip -4 -o address show br-ex | awk '{ if (/ dynamic /) print "by-dhcp"; else print $4 }' | sort | xargs)"
echo "route $(ip -4 route show default | awk '{ $1 = $1; sub(/ metric.*/, ""); sub(/ src .*/, ""); print }' | sort | xargs)"
for f in /etc/NetworkManager/system-connections/* /etc/dnsmasq.d/* /etc/resolv.conf /etc/chrony.conf /etc/hostname; do
  [ -f "$f" ] && echo "file $f" && grep -v -E '^(uuid|timestamp)=' "$f"
done
for f in armed; do [ -e "/var/lib/touchdown/$f" ] && echo "there is $f"; done
echo "kubelet $(systemctl is-active kubelet)"
`

// onNode is the state of a node that runs.
func onNode(ctx context.Context, l *landing.Landing) (string, error) {
	return l.Node.Shell(ctx, nodeState)
}

// Objects of the API that a landing changes, as far as they are the same after every landing: the spec of the single
// ones, and of the lists what they name.
var (
	single = []string{
		"/apis/config.openshift.io/v1/apiservers/cluster",
		"/apis/config.openshift.io/v1/ingresses/cluster",
		"/apis/config.openshift.io/v1/images/cluster",
		"/apis/config.openshift.io/v1/proxies/cluster",
		"/apis/operator.openshift.io/v1/namespaces/openshift-ingress-operator/ingresscontrollers/default",
	}
	lists = map[string]func(object) string{
		"/api/v1/nodes":                      labelsOnly,
		"/apis/route.openshift.io/v1/routes": func(o object) string { return text(o.at("spec", "host")) },
		"/apis/machineconfiguration.openshift.io/v1/machineconfigs":             digestOfSpec,
		"/apis/machineconfiguration.openshift.io/v1/machineconfigpools":         func(o object) string { return "paused " + text(o.at("spec", "paused")) },
		"/api/v1/namespaces/openshift-config/secrets":                           nameOnly,
		"/api/v1/namespaces/openshift-ingress/secrets":                          nameOnly,
		"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations":   nameOnly,
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": nameOnly,
	}
)

type object map[string]any

func (o object) at(path ...string) any {
	var v any = map[string]any(o)
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func nameOnly(object) string { return "" }

func labelsOnly(o object) string { return text(o.at("metadata", "labels")) }

func digestOfSpec(o object) string {
	if strings.HasPrefix(fmt.Sprint(o.at("metadata", "name")), "rendered-") {
		return "rendered" // of what is in the others
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text(o.at("spec")))))
}

// inAPI is the state of the cluster.
func inAPI(ctx context.Context, l *landing.Landing) (string, error) {
	read, done, err := reader(ctx, l)
	if err != nil {
		return "", err
	}
	defer done()
	var out strings.Builder
	for _, path := range single {
		o, err := read(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s %s\n", path, text(o.at("spec")))
	}
	for _, path := range sorted(lists) {
		o, err := read(path)
		if err != nil {
			return "", err
		}
		items, _ := o["items"].([]any)
		for _, i := range items {
			item, _ := i.(map[string]any)
			if what := lists[path](item); what != "rendered" {
				fmt.Fprintf(&out, "%s %v %s\n", path, object(item).at("metadata", "name"), what)
			}
		}
	}
	return out.String(), nil
}

// secretsInAPI has of each secret that a landing may change a digest of its data. A landing makes new ones, so they are the same only
// before it, and when it was undone.
func secretsInAPI(ctx context.Context, l *landing.Landing) (string, error) {
	read, done, err := reader(ctx, l)
	if err != nil {
		return "", err
	}
	defer done()
	var out strings.Builder
	for _, namespace := range []string{"kube-system", "openshift-config", "openshift-ingress"} {
		o, err := read("/api/v1/namespaces/" + namespace + "/secrets")
		if err != nil {
			return "", err
		}
		items, _ := o["items"].([]any)
		for _, i := range items {
			item, _ := i.(map[string]any)
			fmt.Fprintf(&out, "secret %s/%v %x\n", namespace, object(item).at("metadata", "name"), sha256.Sum256([]byte(text(item["data"]))))
		}
	}
	return out.String(), nil
}

// reader reads objects of the cluster by their paths, until it is done.
func reader(ctx context.Context, l *landing.Landing) (read func(path string) (object, error), done func(), err error) {
	config, err := l.Node.Kubernetes()
	if err != nil {
		return nil, nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client: %w", err)
	}
	return func(path string) (object, error) { return readObject(ctx, client, config.Host+path) }, client.CloseIdleConnections, nil
}

func readObject(ctx context.Context, client *http.Client, url string) (object, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return nil, fmt.Errorf("%s answers %s: %s", url, response.Status, said)
	}
	o := object{}
	if err := json.NewDecoder(response.Body).Decode(&o); err != nil {
		return nil, fmt.Errorf("reading %s: %w", url, err)
	}
	return o, nil
}

// become waits until look sees want: after a boot a node needs a moment until it is what its disk says.
func become(ctx context.Context, limit time.Duration, want string, look func(context.Context) (string, error)) error {
	ctx, cancel := context.WithTimeout(ctx, wait.Timeout(limit))
	defer cancel()
	var seen error // the last look may end with its time, and says nothing then
	err := wait.For(ctx, "the end", func(ctx context.Context) error {
		got, err := look(ctx)
		switch {
		case err == nil && got == want:
			return nil
		case err == nil:
			err = fmt.Errorf("it differs:\n%s", difference(want, got))
		}
		if ctx.Err() == nil {
			seen = err
		}
		return err
	})
	if err != nil && seen != nil {
		return errors.Join(seen, err)
	}
	return err
}

// difference lists the lines that only one of two texts has.
func difference(want, got string) string {
	var out strings.Builder
	only := func(sign, a, b string) {
		for line := range strings.Lines(a) {
			if !strings.Contains("\n"+b, "\n"+line) {
				fmt.Fprintf(&out, "%s %s", sign, line)
			}
		}
	}
	only("missing ", want, got)
	only("unwanted", got, want)
	return out.String()
}

// TestADifferenceIsTold: what was seen last is told, though the time ends in the middle of another look.
func TestADifferenceIsTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	looks := 0
	err := become(ctx, time.Minute, "there\n", func(context.Context) (string, error) {
		if looks++; looks == 1 {
			return "away\n", nil
		}
		cancel()
		return "", errors.New("killed")
	})
	if err == nil || !strings.Contains(err.Error(), "missing  there") {
		t.Errorf("after %d looks: %v", looks, err)
	}
}
