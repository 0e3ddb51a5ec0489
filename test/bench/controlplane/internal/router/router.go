// Package router stands in for the OpenShift router: TLS by server name, a page for every admitted host, 503 for the rest.
package router

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"touchdown/test/bench/controlplane/internal/operators"
)

// Router answers on one listener until its context ends.
type Router struct {
	mu       sync.RWMutex
	fallback *tls.Certificate
	away     bool
	hosts    map[string]host
}

type host struct {
	operators.Served
	cert *tls.Certificate
}

// Serve starts answering on a listener.
func Serve(ctx context.Context, l net.Listener, log *slog.Logger) *Router {
	r := &Router{hosts: map[string]host{}}
	server := &http.Server{
		Handler:           http.HandlerFunc(r.page),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() {
		err := server.Serve(tls.NewListener(l, &tls.Config{GetCertificate: r.certificate, NextProtos: []string{"http/1.1"}}))
		if err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Error("router stopped", "error", err)
		}
	}()
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	return r
}

// SetDefault sets the certificate of hosts without their own.
func (r *Router) SetDefault(cert, key []byte) error {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("loading the default certificate: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fallback = &pair
	return nil
}

// SetRoutes replaces the hosts. A route whose own certificate is no good is served with the default one.
func (r *Router) SetRoutes(routes []operators.Served) error {
	hosts := map[string]host{}
	for _, s := range routes {
		h := host{Served: s}
		if len(s.Cert) > 0 {
			if pair, err := tls.X509KeyPair(s.Cert, s.Key); err == nil {
				h.cert = &pair
			}
		}
		hosts[strings.ToLower(s.Host)] = h
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts = hosts
	return nil
}

// Away makes it end every connection before it says anything.
func (r *Router) Away(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
}

func (r *Router) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.away {
		return nil, errors.New("the router is away")
	}
	if h := r.hosts[strings.ToLower(hello.ServerName)]; h.cert != nil {
		return h.cert, nil
	}
	if r.fallback == nil {
		return nil, errors.New("no default certificate yet")
	}
	return r.fallback, nil
}

func (r *Router) page(w http.ResponseWriter, req *http.Request) {
	name, _, err := net.SplitHostPort(req.Host)
	if err != nil {
		name = req.Host
	}
	r.mu.RLock()
	h, ok := r.hosts[strings.ToLower(name)]
	r.mu.RUnlock()
	switch {
	case !ok:
		http.Error(w, "Application is not available", http.StatusServiceUnavailable)
	case req.URL.Path == "/healthz" || req.URL.Path == "/health":
		fmt.Fprint(w, "ok")
	case h.Namespace == "openshift-ingress-canary": // what its pod answers, and the ingress operator looks for
		w.Header().Set("x-request-port", h.Port)
		fmt.Fprintln(w, "Healthcheck requested")
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>%s</title><p>%s/%s\n", h.Host, h.Namespace, h.Name)
	}
}
