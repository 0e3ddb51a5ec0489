package health

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
	"github.com/vishvananda/netns"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/message"
)

// podNetworks is where CRI-O keeps the network namespaces of its pods (cri-o/cri-o, pkg/config, NamespacesDir /var/run, and in it
// netns; 1.27 to 1.34).
const podNetworks = "/run/netns"

// answerTime is how long a name server of the site may take for one of the tries.
const answerTime, answerTries = 2 * time.Second, 2

// WayOut is what the site's name server says to the node, and to its pods.
type WayOut struct {
	Server netip.Addr     // that answered the node
	Skip   message.Text   // why nobody asked
	Asked  int            // pods
	From   string         // the pod's namespace that got an answer first
	Errs   []message.Text // of the others
}

var noServer = message.T("the site's name server is absent, not needed")

// errNoFamily is the error of a pod that has no address from which it could ask: pods of a cluster that was installed with IPv4 alone
// have none of IPv6, whatever the site has. The node's own name server asks for them.
var errNoFamily = errors.New("the pod has no address of the name server's family")

// askFromPods sends one DNS query from the node and, if that is answered, the same from each pod until one has its answer. Any
// answer counts. Single pods may be kept from it by a network policy: only when none gets through, the pods have no way out.
func askFromPods(ctx context.Context, folder string, servers []netip.Addr) (w WayOut) {
	if len(servers) == 0 {
		w.Skip = noServer
		return w
	}
	w.Skip = message.T("the site's name server does not answer the node either")
	for _, server := range servers {
		if ask(ctx, server) != nil {
			continue
		}
		w.Server = server
		if w.Skip = w.askPods(ctx, folder); w.Asked > 0 {
			w.Skip = message.Text{}
			break
		}
	}
	return w
}

// askPods sends the query from all pods at once, and ends with the first answer. It tells why there was none to ask.
func (w *WayOut) askPods(ctx context.Context, folder string) (skip message.Text) {
	pods, err := os.ReadDir(folder)
	if err != nil {
		return message.T("the pods' networks cannot be seen")
	}
	node, err := netns.Get()
	if err != nil {
		return message.T("the node's own network cannot be told from the pods'")
	}
	defer func() { _ = node.Close() }()
	skip = message.T("no pod with its own network runs")
	ctx, answered := context.WithCancel(ctx)
	defer answered()
	var mu sync.Mutex
	var asking sync.WaitGroup
	strange := false // the family of the server
	for _, pod := range pods {
		asking.Go(func() {
			entered, err := host.InNetwork(filepath.Join(folder, pod.Name()), node, func() error { return askAsPod(ctx, w.Server) })
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, host.ErrSameNetwork), errors.Is(err, context.Canceled): // no pod with its own network; one has its answer
			case errors.Is(err, errNoFamily):
				strange = true
			case !entered: // not root, or the pod has just ended
				skip = message.T("the pods' networks cannot be entered")
			case err == nil:
				w.Asked++
				w.From = pod.Name()
				answered()
			default:
				w.Asked++
				w.Errs = append(w.Errs, message.F("%s: %s", pod.Name(), message.Detail(err)))
			}
		})
	}
	asking.Wait()
	if strange {
		return message.F("no pod has an address from which it could ask %s; the node asks for them", w.Server)
	}
	return skip
}

// askAsPod is ask in a pod's network.
func askAsPod(ctx context.Context, server netip.Addr) error {
	addresses, err := net.InterfaceAddrs()
	if err == nil && !slices.ContainsFunc(addresses, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Is4() == server.Is4() && p.Addr().IsGlobalUnicast()
	}) {
		return errNoFamily
	}
	return ask(ctx, server)
}

// ask wants any answer from a name server, even a refusal: what counts is that it finds its way back. Its socket belongs to the
// network of the calling thread.
func ask(ctx context.Context, server netip.Addr) (err error) {
	for range answerTries {
		if err = askOnce(ctx, server); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func askOnce(ctx context.Context, server netip.Addr) error {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(server, 53)))
	if err != nil {
		return fmt.Errorf("sending to %s: %w", server, err)
	}
	shut := func() { _ = conn.Close() }
	defer shut()
	defer context.AfterFunc(ctx, shut)()
	client := &dns.Client{Timeout: answerTime}
	_, _, err = client.ExchangeWithConn(new(dns.Msg).SetQuestion(".", dns.TypeNS), &dns.Conn{Conn: conn})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return fmt.Errorf("asking %s: %w", server, err)
	}
}

// judgeWayOut compares what a pod gets from the site with what the node gets. Host traffic, pulls and routes do not go the pods' way,
// so nothing else shows that answers to pods are lost.
func judgeWayOut(s *State) check.Check {
	c := check.Check{
		ID: "pod-request", Title: message.T("A pod's request to the site"), Expected: message.T("the site's name server answers pods as it answers the node"),
		Source: message.F("DNS query from the network namespaces of the pods (%s)", podNetworks),
		Fix:    message.T("Look at the check pod-gateway. If it is well: does the site's firewall let the node's address through? Then restart the pod ovnkube-node."),
	}
	w := s.WayOut
	switch {
	case s.Away != nil:
		w.Skip = message.T("the cluster's API does not answer")
	case !w.Server.IsValid() && w.Skip == (message.Text{}):
		w.Skip = message.T("nobody asked")
	}
	switch {
	case w.Skip == noServer:
		c.Status, c.Observed, c.Fix = check.Skip, noServer, message.Text{}
	case w.Skip != (message.Text{}):
		c.Status, c.Observed, c.Fix = check.Skip, message.F("not checked: %s", w.Skip), message.Text{}
	case w.From != "":
		c.Status, c.Observed, c.Fix = check.Pass, message.F("%s answers", w.Server.String()), message.Text{}
	default:
		c.Status, c.Observed = check.Fail, message.F("%s answers the node, and none of %d pods", w.Server, w.Asked)
		c.Evidence = w.Errs
	}
	return c
}
