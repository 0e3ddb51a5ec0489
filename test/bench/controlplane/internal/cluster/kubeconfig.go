package cluster

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig is one context: a server, who it must be and who asks.
type Kubeconfig struct {
	Server    string
	Name      string // of the server, where its address does not tell
	CA        []byte
	User      string
	Cert, Key []byte
}

// Write saves it as a kubeconfig file.
func (k Kubeconfig) Write(path string) error {
	config := api.NewConfig()
	config.Clusters["cluster"] = &api.Cluster{Server: k.Server, TLSServerName: k.Name, CertificateAuthorityData: k.CA}
	config.AuthInfos[k.User] = &api.AuthInfo{ClientCertificateData: k.Cert, ClientKeyData: k.Key}
	config.Contexts[k.User] = &api.Context{Cluster: "cluster", AuthInfo: k.User}
	config.CurrentContext = k.User
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
