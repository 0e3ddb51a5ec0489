package health

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/miekg/dns"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"touchdown/backend/check"
)

// PodNetworks is where CRI-O keeps the network namespaces of its pods (cri-o/cri-o, pkg/config, NamespacesDir /var/run, and in it
// netns; 1.27 to 1.34).
const PodNetworks = "/run/netns"

// answerTime is how long a name server of the site may take for one of the tries.
const answerTime, answerTries = 2 * time.Second, 2

// WayOut is what the site's name server says to the node, and to its pods.
type WayOut struct {
	Server netip.Addr // that answered the node
	Skip   string     // why nobody asked
	Asked  int        // pods
	From   string     // the pod's namespace that got an answer first
	Errs   []string   // of the others
}

const noServer = "the site's name server is absent, not needed"

// askFromPods sends one DNS query from the node and, if that is answered, the same from each pod until one has its answer. Any
// answer counts. Single pods may be kept from it by a network policy: only when none gets through, the pods have no way out.
func askFromPods(ctx context.Context, folder string, servers []netip.Addr) (w WayOut) {
	if len(servers) == 0 {
		w.Skip = noServer
		return w
	}
	for _, server := range servers {
		if askOnce(ctx, server) == nil {
			w.Server = server
			break
		}
	}
	if !w.Server.IsValid() {
		w.Skip = "the site's name server does not answer the node either"
		return w
	}
	pods, err := os.ReadDir(folder)
	if err != nil {
		w.Skip = "the pods' networks cannot be seen"
		return w
	}
	node, err := netns.Get()
	if err != nil {
		w.Skip = "the node's own network cannot be told from the pods'"
		return w
	}
	defer node.Close()
	w.ask(ctx, folder, pods, node)
	if w.Asked > 0 {
		w.Skip = ""
	} else if w.Skip == "" {
		w.Skip = "no pod with its own network runs"
	}
	return w
}

// ask sends the query from all pods at once, and ends with the first answer.
func (w *WayOut) ask(ctx context.Context, folder string, pods []os.DirEntry, node netns.NsHandle) {
	ctx, answered := context.WithCancel(ctx)
	defer answered()
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, pod := range pods {
		asking.Go(func() {
			entered, err := within(filepath.Join(folder, pod.Name()), node, func() error { return askOnce(ctx, w.Server) })
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, unix.ENETUNREACH), errors.Is(err, context.Canceled): // no pod with its own network; one has its answer
			case !entered: // not root, or the pod has just ended
				w.Skip = "the pods' networks cannot be entered"
			case err == nil:
				w.Asked++
				w.From = pod.Name()
				answered()
			default:
				w.Asked++
				w.Errs = append(w.Errs, pod.Name()+": "+err.Error())
			}
		})
	}
	asking.Wait()
}

// askOnce wants any answer from a name server, even a refusal: what counts is that it finds its way back. Its socket belongs to the
// network of the calling thread.
func askOnce(ctx context.Context, server netip.Addr) (err error) {
	for range answerTries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var conn *net.UDPConn
		if conn, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(server, 53))); err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		client := &dns.Client{Timeout: answerTime}
		_, _, err = client.ExchangeWithConn(new(dns.Msg).SetQuestion(".", dns.TypeNS), &dns.Conn{Conn: conn})
		if stop(); ctx.Err() != nil && err != nil {
			return ctx.Err()
		}
		conn.Close()
		if err == nil {
			return nil
		}
	}
	return err
}

// within calls f on a thread that is in the network namespace of a pod, if that can be entered. A thread that cannot come back ends
// with its goroutine.
func within(path string, node netns.NsHandle, f func() error) (entered bool, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		home, failed := netns.Get()
		if failed != nil {
			err = fmt.Errorf("finding the node's own network: %w", failed)
			return
		}
		defer home.Close()
		pod, failed := netns.GetFromPath(path)
		if failed != nil {
			err = fmt.Errorf("opening the pod's network: %w", failed)
			return
		}
		defer pod.Close()
		if pod.Equal(node) { // CRI-O keeps the node's own for pods in the host's network
			err = unix.ENETUNREACH
			return
		}
		if err = netns.Set(pod); err != nil {
			return
		}
		entered, err = true, f()
		if netns.Set(home) == nil {
			runtime.UnlockOSThread()
		}
	}()
	<-done
	return entered, err
}

// judgeWayOut compares what a pod gets from the site with what the node gets. Host traffic, pulls and routes do not go the pods' way,
// so nothing else shows that answers to pods are lost.
func judgeWayOut(s *State) check.Check {
	c := check.Check{
		ID: "pod-request", Title: "A pod's request to the site", Expected: "the site's name server answers pods as it answers the node",
		Source: "DNS query from the network namespaces of the pods (" + PodNetworks + ")",
		Fix:    "Look at the check pod-gateway. If it is well: does the site's firewall let the node's address through? Then restart the pod ovnkube-node.",
	}
	w := s.WayOut
	switch {
	case s.Away != nil:
		w.Skip = "the cluster's API does not answer"
	case !w.Server.IsValid() && w.Skip == "":
		w.Skip = "nobody asked"
	}
	switch {
	case w.Skip == noServer:
		c.Status, c.Observed, c.Fix = check.Skip, noServer, ""
	case w.Skip != "":
		c.Status, c.Observed, c.Fix = check.Skip, "not looked at: "+w.Skip, ""
	case w.From != "":
		c.Status, c.Observed, c.Fix = check.Pass, w.Server.String()+" answers", ""
	default:
		c.Status, c.Observed = check.Fail, fmt.Sprintf("%s answers the node, and none of %d pods", w.Server, w.Asked)
		c.Evidence = w.Errs
	}
	return c
}
