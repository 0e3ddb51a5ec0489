package site

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// Proxy is an HTTP proxy on the LAN, at the address of the DHCP server and ProxyPort. It only makes tunnels (CONNECT).
type Proxy struct {
	knob
	in     *Namespace
	names  *DNS
	server *http.Server
}

// Proxy is where the proxy of a network listens.
func (n Network) Proxy() netip.AddrPort { return netip.AddrPortFrom(n.dhcp4(), ProxyPort) }

func (p *Proxy) listen(in *Namespace, n Network, names *DNS) error {
	if !n.Prefix4.IsValid() {
		return nil
	}
	listener, err := in.Listen("tcp", n.Proxy().String())
	if err != nil {
		return fmt.Errorf("starting the proxy: %w", err)
	}
	p.in, p.names = in, names
	server := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: quiet()}
	p.server = server
	go func() { _ = server.Serve(listener) }() // ends with the server, which close may have forgotten by then
	return nil
}

func (p *Proxy) close() {
	if p.server != nil {
		p.server.Close()
		p.server = nil
	}
}

// ServeHTTP makes one tunnel.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if !p.answers() {
		<-request.Context().Done()
		panic(http.ErrAbortHandler) // returning would send an empty answer, which says that the tunnel is there
	}
	if request.Method != http.MethodConnect {
		http.Error(w, "this proxy only makes tunnels", http.StatusMethodNotAllowed)
		return
	}
	far, err := p.dial(request.Context(), request.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	fmt.Fprint(near, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() {
		_, _ = io.Copy(far, buffered)
		far.Close()
	}()
	_, _ = io.Copy(near, far)
}

func (p *Proxy) dial(ctx context.Context, target string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(target)
	if err != nil {
		return nil, fmt.Errorf("reading the target: %w", err)
	}
	if _, err := netip.ParseAddr(name); err != nil {
		p.names.mu.Lock()
		addresses, known := p.names.find(dns.CanonicalName(name))
		p.names.mu.Unlock()
		if !known {
			return nil, fmt.Errorf("the proxy knows no host %s", name)
		}
		name = addresses[0].String()
	}
	return p.in.Dial(ctx, "tcp", net.JoinHostPort(name, port))
}
