package site

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"touchdown/test/bench/images"
)

// RegistryMode is how the registry behaves.
type RegistryMode int

// The registry's behaviours. Silence (it takes the connection and says nothing) and slowness are the service's own switches.
const (
	Open         RegistryMode = iota // whoever asks gets an answer
	NeedsLogin                       // 401 without the right name and password
	Forbids                          // 401 whatever the password
	WrongName                        // its certificate is another host's
	UnknownCA                        // its certificate is from an authority that nobody was told of
	ExpiredCert                      // its certificate was good until yesterday
	NotARegistry                     // a web server answers that knows nothing of /v2/
)

// The registry's only account.
const (
	RegistryUser     = "puller"
	RegistryPassword = "pull-it"
)

// Registry is an image registry in the world behind the gateway: TLS, credentials and, when it is given images (Serve), the
// read-only part of the distribution API.
type Registry struct {
	knob
	mode   RegistryMode
	ca     []byte
	certs  map[RegistryMode]*tls.Certificate
	server *http.Server
	ended  chan struct{}

	// Guarded by the knob's lock.
	images *images.Folder
	faults []*Fault
	served Served
	line   *line // nil: as fast as it goes
}

func newRegistry() (*Registry, error) {
	ca, err := newAuthority("site registry CA")
	if err != nil {
		return nil, err
	}
	other, err := newAuthority("someone's CA")
	if err != nil {
		return nil, err
	}
	r := &Registry{ca: ca.pem(), certs: map[RegistryMode]*tls.Certificate{}, ended: make(chan struct{})}
	addresses := []net.IP{Registry4.AsSlice(), Registry6.AsSlice()}
	day := 24 * time.Hour
	for mode, issue := range map[RegistryMode]func() (*tls.Certificate, error){
		Open:        func() (*tls.Certificate, error) { return ca.issue(RegistryName, addresses, day) },
		WrongName:   func() (*tls.Certificate, error) { return ca.issue("other.example.net", nil, day) },
		UnknownCA:   func() (*tls.Certificate, error) { return other.issue(RegistryName, addresses, day) },
		ExpiredCert: func() (*tls.Certificate, error) { return ca.issue(RegistryName, addresses, -day) },
	} {
		if r.certs[mode], err = issue(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Set makes the registry behave so from now on.
func (r *Registry) Set(m RegistryMode) { r.set(func() { r.mode = m }) }

// CA is the certificate of the authority that signed the registry's, in PEM.
func (r *Registry) CA() []byte { return r.ca }

func (r *Registry) now() RegistryMode {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mode
}

func (r *Registry) listen(in *Namespace) error {
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute, ErrorLog: quiet(), TLSConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: r.certificate,
	}}
	r.server.SetKeepAlivesEnabled(false) // the next request meets the behaviour of that time
	for _, a := range []netip.Addr{Registry4, Registry6} {
		listener, err := in.Listen("tcp", netip.AddrPortFrom(a, RegistryPort).String())
		if err != nil {
			return fmt.Errorf("starting the registry: %w", err)
		}
		go func() { _ = r.server.ServeTLS(&longLine{Listener: listener, registry: r}, "", "") }() // ends with the server
	}
	return nil
}

func (r *Registry) close() {
	if r.server != nil {
		close(r.ended)
		r.server.Close()
	}
}

func (r *Registry) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if !r.answers() {
		<-r.ended
		return nil, net.ErrClosed
	}
	if cert, bad := r.certs[r.now()]; bad {
		return cert, nil
	}
	return r.certs[Open], nil
}

// ServeHTTP answers as the distribution API has it.
func (r *Registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	mode := r.now()
	if mode == NotARegistry || !strings.HasPrefix(request.URL.Path, "/v2/") {
		http.NotFound(w, request)
		return
	}
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	user, password, _ := request.BasicAuth()
	right := user == RegistryUser && password == RegistryPassword
	switch {
	case mode == Forbids || mode == NeedsLogin && !right:
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
	case request.URL.Path == "/v2/":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
	default:
		r.serveImages(w, request)
	}
}

// refuse answers with an error of the distribution API.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": code, "message": message}}})
}
