package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// How long the registry may take: the connection, the proxy and the handshake together.
const registryWait = 4 * time.Second

const registryPort = 443

// registry connects to the registry, by a name of the resolver's, and judges its certificate at the time of the clocks.
type registry struct{ *clocks }

// handshake is what came of the connection to the registry.
type handshake struct {
	host    string // of the registry
	first   string // who is connected to: the registry, or the proxy
	address netip.AddrPort
	stage   stage // where err happened
	err     error
	chain   []*x509.Certificate
	took    time.Duration
}

type stage string

const (
	looking    stage = "name"
	connecting stage = "connection"
	proxying   stage = "proxy"
	greeting   stage = "TLS"
)

// text is what did not work, before the reason.
func (s stage) text() message.Text {
	switch s {
	case looking:
		return message.T("name")
	case connecting:
		return message.T("connection")
	case proxying:
		return message.T("proxy")
	}
	return message.Data(string(s))
}

// shake connects and takes the certificate; it is judged when the right time is known.
func (r registry) shake(ctx context.Context) (h handshake) {
	if r.t.Registry == "" {
		return h
	}
	host, port, err := splitPort(r.t.Registry, registryPort)
	h = handshake{host: host, first: host, stage: looking, err: err}
	if err != nil {
		return h
	}
	endpoint := net.JoinHostPort(host, fmt.Sprint(port))
	proxy := r.t.Proxy.target(endpoint)
	if proxy != nil {
		if h.first, port, h.err = splitPort(r.t.Proxy.host(endpoint), 0); h.err != nil {
			return h
		}
	}
	found, err := r.lookup(ctx, h.first)
	if err != nil {
		h.err = err
		return h
	}
	ctx, cancel := context.WithTimeout(ctx, registryWait)
	defer cancel()
	h.address, h.stage = netip.AddrPortFrom(found[0], port), connecting
	began := time.Now()
	c, err := r.dial(ctx, "tcp", h.address)
	if err != nil {
		h.err = err
		return h
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	// A proxy is sent a password, so it must be the right one.
	trust := &tls.Config{ServerName: h.first, RootCAs: r.t.Roots, Time: r.t.Now, MinVersion: tls.VersionTLS12}
	h.greet(ctx, c, endpoint, proxy, trust)
	h.took = time.Since(began)
	return h
}

func (h *handshake) greet(ctx context.Context, c net.Conn, endpoint string, proxy *url.URL, trust *tls.Config) {
	if proxy != nil {
		h.stage = proxying
		if c, h.err = connect(ctx, c, proxy, endpoint, trust); h.err != nil {
			return
		}
	}
	h.stage = greeting
	secure := tls.Client(c, takeAny(h.host))
	if h.err = secure.HandshakeContext(ctx); h.err == nil {
		h.chain = secure.ConnectionState().PeerCertificates
	}
	if h.err != nil && ctx.Err() != nil {
		h.err = fmt.Errorf("%w (%w)", context.DeadlineExceeded, h.err)
	}
}

// takeAny makes a handshake with anybody: nothing secret is sent, and judge says what is wrong with the
// certificate better than a failed handshake can.
func takeAny(host string) *tls.Config {
	return &tls.Config{ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // see above
}

// judge warns only: images are in the node, and the registry can be set right after the move.
func (r registry) judge(h handshake) {
	c := check.Check{
		ID: "net-registry", Title: message.F("Image registry %s", r.t.Registry), Status: check.Warn,
		Expected: message.T("a connection, and a certificate that is trusted and valid"),
	}
	switch {
	case r.t.Registry == "":
		c.Title, c.Status, c.Observed = message.T("Image registry"), check.Skip, message.T("Absent, not needed: the node keeps the images that it runs.")
	case h.err != nil:
		r.judgeFailed(&c, h)
	default:
		c.Evidence = append(c.Evidence, message.F("connected to %s in %d ms", h.address, h.took.Milliseconds()))
		r.judgeChain(&c, h)
	}
	if h.address.IsValid() {
		c.Evidence = append(c.Evidence, r.through(h.address.Addr()))
	}
	r.say(c)
}

func (r registry) judgeFailed(c *check.Check, h handshake) {
	who := message.T("registry")
	if h.first != h.host {
		who = message.T("proxy")
	}
	c.Evidence = append(c.Evidence, message.F("%s: %s", h.stage.text(), message.Detail(h.err)))
	c.Fix = message.F("Check the %s's name and port, and whether the site's firewall lets this node out.", who)
	none, _ := errors.AsType[unreachable](h.err)
	untrusted, isUntrusted := errors.AsType[*tls.CertificateVerificationError](h.err)
	status, isStatus := errors.AsType[refused](h.err)
	switch {
	case h.stage == looking && nobodyToAsk(r.servers, r.families):
		c.Observed = message.F("%s is a name, and there is no DNS server to look it up.", h.first)
		c.Fix = message.F("Type the address of the site's DNS server, or the %s's address instead of its name.", who)
	case none.follows || h.stage == looking && !r.asks():
		c.Status, c.Fix = check.Skip, message.Text{}
		if !none.follows {
			none.why = message.T(noDNS)
		}
		c.Observed = message.F("Not tried: %s.", none.why)
	case h.stage == looking:
		c.Observed = message.F("The address of %s could not be found.", h.first)
		c.Fix = message.T("Check the name and the DNS servers.")
	case none.why != (message.Text{}):
		c.Observed = message.F("The %s at %s cannot be asked: %s.", who, h.address, none.why)
		c.Fix = message.T("See the checks of the address and the gateway first.")
	case closedPort(h.err):
		c.Observed = message.F("The machine at %s refuses the connection: the %s does not run there, or it has another port.", h.address, who)
	case r.neighbourMissing(h.address.Addr()):
		c.Observed = message.F("No machine on this network has the address %s of the %s.", h.address.Addr(), who)
	case h.stage == connecting && unreachableHost(h.err):
		c.Observed = message.F("The network says that %s cannot be reached.", h.address.Addr())
	case isUntrusted:
		c.Observed = message.F("The proxy's certificate is not trusted: %s.", message.Detail(untrusted.Err))
		c.Fix = message.T("Give the CA certificate of the proxy (additionalTrustBundle), or check that this is the right proxy.")
	case isStatus:
		c.Observed = message.F("The proxy does not let this node to the registry: it answered %s.", status.status)
		c.Fix = message.T("Check the proxy's user and password, and ask the site's network administrator to allow the registry.")
	case h.stage == greeting && timedOut(h.err):
		c.Observed = message.F("%s accepts the connection and then says nothing.", h.address)
	case h.stage == greeting:
		c.Observed = message.F("%s answers, but not as a registry does: there is no TLS at this port.", h.address)
	default:
		c.Observed = message.F("The %s at %s does not answer%s.", who, h.address, r.behind(h.address.Addr()))
	}
}

const noDNS = "no DNS server could be asked for its address"

func unreachableHost(err error) bool {
	return strings.Contains(err.Error(), "unreachable") || strings.Contains(err.Error(), "no route to host")
}

// judgeChain verifies the certificate at the time that the time servers tell: a machine whose clock is wrong, which is
// set before the move, is no reason to doubt it.
func (r registry) judgeChain(c *check.Check, h handshake) {
	now, told := r.t.Now(), message.T("this machine's clock")
	if s := r.trusted(); s != nil {
		now, told = now.Add(s.response.ClockOffset), message.F("the time server %s", s.name)
	}
	leaf := h.chain[0]
	between := x509.NewCertPool()
	for i, cert := range h.chain {
		c.Evidence = append(c.Evidence, message.F("certificate %d: %s, by %s, valid %s to %s",
			i, cert.Subject, cert.Issuer, cert.NotBefore.UTC().Format(clockFormat), cert.NotAfter.UTC().Format(clockFormat)))
		if i > 0 {
			between.AddCert(cert)
		}
	}
	_, err := leaf.Verify(x509.VerifyOptions{DNSName: h.host, Roots: r.t.Roots, Intermediates: between, CurrentTime: now})
	if err != nil {
		c.Evidence = append(c.Evidence, message.Detail(err))
	}
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	switch _, wrongName := errors.AsType[x509.HostnameError](err); {
	case err == nil:
		c.Status, c.Observed = check.Pass, message.T("It answers, and its certificate is trusted and valid.")
	case wrongName:
		c.Observed = message.F("The certificate is for other names than %s: %s.", h.host, names(leaf))
		c.Fix = message.T("Use a name that the certificate has, or ask the registry's administrator for a certificate for this name.")
	case isInvalid && invalid.Reason == x509.Expired:
		c.Observed = message.F("The certificate is valid from %s to %s; by %s it is %s now.", leaf.NotBefore.UTC().Format(clockFormat),
			leaf.NotAfter.UTC().Format(clockFormat), told, now.UTC().Format(clockFormat))
		c.Fix = message.T("Compare the time with a watch (UTC). If it is right, ask the registry's administrator for a new certificate.")
	case errors.As(err, &x509.UnknownAuthorityError{}):
		c.Observed = message.F("The certificate was signed by %q, whom this node does not trust.", leaf.Issuer.CommonName)
		c.Fix = message.T("Give the CA certificate of the registry (registryCerts), or check that this is the right registry.")
	default:
		c.Observed = message.T("The certificate cannot be used.")
		c.Fix = message.T("Ask the registry's administrator for a new certificate.")
	}
}

func names(c *x509.Certificate) message.Text {
	all := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return message.T("no name at all")
	}
	return message.Data(strings.Join(all, ", "))
}
