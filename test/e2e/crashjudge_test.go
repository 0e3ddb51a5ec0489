package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"touchdown/steps/view"
	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

func (r *ride) onNode(ctx context.Context) (string, error) { return onNode(ctx, r.Landing) }

// atFactory is the state of a node that waits for its site, once its boot has found the site's DHCP server, what that says of name
// servers has come to /etc/resolv.conf, and nothing changes any more: on a busy machine one comes long before the other.
func atFactory(ctx context.Context, l *landing.Landing) (string, error) {
	const given = `ip -4 -o address show br-ex | grep -q " dynamic " && ip -4 route show default | grep -q . && grep -qF 198.51.100.53 /etc/resolv.conf`
	if err := l.Node.Wait(ctx, given); err != nil {
		return "", err
	}
	return atRest(ctx, "a node at rest", func(ctx context.Context) (string, error) { return onNode(ctx, l) })
}

func nodeAndAPI(ctx context.Context, l *landing.Landing) (string, error) {
	node, err := onNode(ctx, l)
	if err != nil {
		return "", err
	}
	objects, err := inAPI(ctx, l)
	return node + objects, err
}

// original is the state of a cluster that no landing changes, with what is in its secrets.
func original(ctx context.Context, l *landing.Landing) (string, error) {
	objects, err := inAPI(ctx, l)
	if err != nil {
		return "", err
	}
	secrets, err := secretsInAPI(ctx, l)
	return objects + secrets, err
}

// proofAsBefore is Proof under the factory's domain, which no DNS of the site knows: the names lead to the address that the node has there.
func (r *ride) proofAsBefore(ctx context.Context) error {
	address, err := r.Node.Shell(ctx, `ip -4 -o address show br-ex | sed -n 's|.* inet \([0-9.]*\)/.* dynamic .*|\1|p'`)
	if err != nil {
		return err
	}
	return r.ProofBy(ctx, node.Domain, func(ctx context.Context, network, name string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(name)
		if err != nil {
			return nil, fmt.Errorf("reading the address: %w", err)
		}
		return r.Site.Client().DialContext(ctx, network, net.JoinHostPort(strings.TrimSpace(address), port))
	})
}

// released opens the gate by hand, as no product does, to see what the API of a node holds that waits for its site.
func (r *ride) released(ctx context.Context) (string, error) {
	if _, err := r.Node.Shell(ctx, "rm /var/lib/touchdown/armed && systemctl start kubelet"); err != nil {
		return "", err
	}
	if err := r.Node.PodsReady(ctx); err != nil {
		return "", err
	}
	return atRest(ctx, "an API at rest", func(ctx context.Context) (string, error) { return original(ctx, r.Landing) }) // its operators may still be at work
}

// atRest waits until two looks, 2 s apart, see the same, and returns that.
func atRest(ctx context.Context, what string, look func(context.Context) (string, error)) (string, error) {
	before := ""
	err := wait.For(ctx, what, func(ctx context.Context) error {
		got, err := look(ctx)
		if err == nil && got != before {
			before = got
			time.Sleep(2 * time.Second) // between the two looks
			err = errors.New("it still changes")
		}
		return err
	})
	return before, err
}

func (r *ride) lives(ctx context.Context, want string) error {
	s, err := r.snapshot(ctx)
	if err == nil && s.Life != want {
		err = fmt.Errorf("the engine calls the node %s, not %s; the job is %s", s.Life, want, s.State)
	}
	return err
}

func (c *reference) isLanded(ctx context.Context, r *ride) error {
	if err := r.lives(ctx, view.LifeLanded); err != nil {
		return err
	}
	if err := become(ctx, time.Minute, c.landed, func(ctx context.Context) (string, error) { return nodeAndAPI(ctx, r.Landing) }); err != nil {
		return err
	}
	if r.secrets != "" {
		if err := become(ctx, time.Minute, r.secrets, func(ctx context.Context) (string, error) { return secretsInAPI(ctx, r.Landing) }); err != nil {
			return err
		}
	}
	return become(ctx, time.Minute, "", func(ctx context.Context) (string, error) { return "", r.Proof(ctx, domain) })
}

func (c *reference) isBack(ctx context.Context, r *ride) error {
	if err := r.lives(ctx, "returned"); err != nil {
		return err
	}
	if err := become(ctx, time.Minute, c.factory, r.onNode); err != nil {
		return err
	}
	if _, err := r.released(ctx); err != nil {
		return err
	}
	if err := become(ctx, 30*time.Second, c.objects, func(ctx context.Context) (string, error) { return original(ctx, r.Landing) }); err != nil {
		return err
	}
	return become(ctx, time.Minute, "", func(ctx context.Context) (string, error) { return "", r.proofAsBefore(ctx) })
}
