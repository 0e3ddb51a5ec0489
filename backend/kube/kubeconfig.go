package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig is what a person's kubeconfig holds: one cluster and one user with a client certificate.
type Kubeconfig struct {
	Name   string // of the cluster in the file
	Server string // URL of the API
	CA     []byte // PEM of what signs the server's certificate
	Cert   []byte // PEM of the client's certificate
	Key    []byte // PEM of its key
}

// ParseKubeconfig reads what Text wrote.
func ParseKubeconfig(text []byte) (Kubeconfig, error) {
	config, err := clientcmd.Load(text)
	if err != nil {
		return Kubeconfig{}, errors.New("reading a kubeconfig: it is none") // the error could repeat some of it
	}
	at := config.Contexts[config.CurrentContext]
	if at == nil || config.Clusters[at.Cluster] == nil || config.AuthInfos[at.AuthInfo] == nil {
		return Kubeconfig{}, errors.New("reading a kubeconfig: its context names nothing in it")
	}
	cluster, user := config.Clusters[at.Cluster], config.AuthInfos[at.AuthInfo]
	return Kubeconfig{at.Cluster, cluster.Server, cluster.CertificateAuthorityData, user.ClientCertificateData, user.ClientKeyData}, nil
}

// Text is the kubeconfig as a file. It holds the key.
func (k Kubeconfig) Text() ([]byte, error) {
	const user = "admin"
	config := api.NewConfig()
	config.Clusters[k.Name] = &api.Cluster{Server: k.Server, CertificateAuthorityData: k.CA}
	config.AuthInfos[user] = &api.AuthInfo{ClientCertificateData: k.Cert, ClientKeyData: k.Key}
	config.Contexts[user] = &api.Context{Cluster: k.Name, AuthInfo: user}
	config.CurrentContext = user
	text, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return text, nil
}

// ErrRefused is what Try's errors wrap where the kubeconfig is no good: the API does not know who asks, one side does not take the
// other's certificate, or the kubeconfig is broken. Other errors tell nothing about the kubeconfig.
var ErrRefused = errors.New("the kubeconfig is not accepted")

// Try asks the API at address (host:port) for something that only an administrator may read, as a person with the kubeconfig will:
// under the server's name, with the kubeconfig's CA and certificate alone.
func (k Kubeconfig) Try(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	server, err := url.Parse(k.Server)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig's server: %w: %w", ErrRefused, err)
	}
	pair, err := tls.X509KeyPair(k.Cert, k.Key)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig's certificate: %w: %w", ErrRefused, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(k.CA) {
		return fmt.Errorf("reading the kubeconfig's CA: %w: there is no certificate in it", ErrRefused)
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, ServerName: server.Hostname()},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.Server+"/api/v1/namespaces/kube-system/secrets?limit=1", nil)
	if err != nil {
		return fmt.Errorf("making a request to %s: %w", k.Server, err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil && certificate(err) {
		return fmt.Errorf("asking %s: %w: %w", k.Server, ErrRefused, err)
	}
	if err != nil {
		return fmt.Errorf("asking %s: %w", k.Server, err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // secrets are in it; the status alone matters
	switch response.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusUnauthorized, http.StatusForbidden: // whose certificate no CA of the API knows counts as anonymous, who is forbidden it
		return fmt.Errorf("asking %s: %w: the API answers %s", k.Server, ErrRefused, response.Status)
	default:
		return fmt.Errorf("asking %s: the API answers %s", k.Server, response.Status)
	}
}

// certificate tells whether a connection failed because one side does not take the other's certificate. crypto/tls has no public
// type for what the server tells.
func certificate(err error) bool {
	if _, ours := errors.AsType[*tls.CertificateVerificationError](err); ours {
		return true
	}
	told, is := errors.AsType[*net.OpError](err)
	return is && told.Op == "remote error" && strings.Contains(told.Err.Error(), "certificate")
}
