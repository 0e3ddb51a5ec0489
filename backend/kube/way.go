package kube

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
)

// The node's own kubeconfigs below /etc/kubernetes/static-pod-resources, the same in OpenShift 4.14 to 4.21
// (openshift/cluster-kube-apiserver-operator, release branches, bindata/assets/kube-apiserver/node-kubeconfigs.yaml).
const (
	ownFolder    = "kube-apiserver-certs/secrets/node-kubeconfigs"
	ownName      = "localhost.kubeconfig"
	recoveryName = "localhost-recovery.kubeconfig"

	recoveryAccount = "recovery account" // the name of a way
)

// The kubeconfig of kube-apiserver's certificate syncer, in the folder of each revision of its static pod, and where that
// pod sees the folder (kubeconfig-cm.yaml and pod.yaml, as above).
const (
	revisionFolder = "kube-apiserver-pod-"
	syncerConfig   = "configmaps/kube-apiserver-cert-syncer-kubeconfig/kubeconfig"
	podsView       = rhcos.Resources + "/"
)

// way is one way into the cluster: where its credentials lie.
type way struct {
	name string // for the log
	file string // whose change makes it worth another try
	read func() (*rest.Config, error)
}

// waysOf lists the ways into the cluster, best first. Only the node's own kubeconfig has others beside it:
//
//   - The recovery kubeconfig holds the same client certificate, and asks for another server certificate: that of localhost is
//     renewed by the cluster every 15 days and lives for 30, that of localhost-recovery lives for ten years.
//   - The recovery account has a token that does not expire, and the role cluster-admin (localhost-recovery-client-crb.yaml):
//     it is what the cluster's own recovery works with. The client certificate ends with its signer, after 120 days to two years.
func waysOf(kubeconfig string) []way {
	fromFile := func(path string) func() (*rest.Config, error) {
		return func() (*rest.Config, error) { return readConfig(path, func(*api.Config) {}) }
	}
	all := []way{{"kubeconfig", kubeconfig, fromFile(kubeconfig)}}
	root, own := strings.CutSuffix(kubeconfig, "/"+ownFolder+"/"+ownName)
	if !own {
		return all
	}
	recovery := filepath.Join(filepath.Dir(kubeconfig), recoveryName)
	return append(all,
		way{"recovery kubeconfig", recovery, fromFile(recovery)},
		way{recoveryAccount, root, func() (*rest.Config, error) { return readRecoveryAccount(root) }})
}

// readConfig reads a kubeconfig, lets edit change it, and loads what it points to. Its errors name files and no contents.
func readConfig(path string, edit func(*api.Config)) (*rest.Config, error) {
	raw, err := loadConfig(path)
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %s: %w", path, err)
	}
	edit(raw)
	if err := clientcmd.ResolveLocalPaths(raw); err != nil {
		return nil, fmt.Errorf("reading kubeconfig %s: %w", path, err)
	}
	config, err := clientcmd.NewDefaultClientConfig(*raw, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %s: %w", path, err)
	}
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("reading the certificates of kubeconfig %s: %w", path, err)
	}
	return config, nil
}

// maxConfig bounds a kubeconfig, in bytes.
const maxConfig = 4 << 20

// loadConfig is clientcmd.LoadFromFile for a regular file of a bounded size: a person may name any other one, and a pipe would wait.
func loadConfig(path string) (*api.Config, error) {
	text, whole, err := host.ReadRegular(path, maxConfig)
	if err == nil && !whole {
		err = fmt.Errorf("it has more than %d bytes", maxConfig)
	}
	if err != nil {
		return nil, err
	}
	raw, err := clientcmd.Load(text)
	if err != nil {
		return nil, fmt.Errorf("parsing it: %w", err)
	}
	for _, c := range raw.Clusters { // the files that it names lie beside it
		c.LocationOfOrigin = path
	}
	for _, u := range raw.AuthInfos {
		u.LocationOfOrigin = path
	}
	return raw, nil
}

// readRecoveryAccount reads the newest revision whose files are whole: an installer that a power cut stopped leaves half of one.
func readRecoveryAccount(root string) (*rest.Config, error) {
	folders, err := filepath.Glob(filepath.Join(root, revisionFolder+"*"))
	if err != nil || len(folders) == 0 {
		return nil, fmt.Errorf("reading the recovery account: no revision of kube-apiserver in %s", root)
	}
	revision := func(folder string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(folder), revisionFolder))
		return n
	}
	slices.SortFunc(folders, func(a, b string) int { return revision(b) - revision(a) })
	var errs []error
	for _, folder := range folders {
		config, err := readRevision(folder)
		if err == nil {
			return config, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func readRevision(folder string) (*rest.Config, error) {
	config, err := readConfig(filepath.Join(folder, syncerConfig), func(raw *api.Config) {
		onNode := func(path *string) {
			if below, inPod := strings.CutPrefix(*path, podsView); inPod {
				*path = filepath.Join(folder, below)
			}
		}
		for _, c := range raw.Clusters {
			onNode(&c.CertificateAuthority)
		}
		for _, u := range raw.AuthInfos {
			onNode(&u.TokenFile)
		}
	})
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(config.BearerTokenFile)
	if err != nil {
		return nil, fmt.Errorf("reading the recovery account: %w", err)
	}
	if config.BearerToken = strings.TrimSpace(string(token)); config.BearerToken == "" || len(config.CAData) == 0 {
		return nil, fmt.Errorf("reading the recovery account: its token or its CA in %s is empty", folder)
	}
	config.BearerTokenFile = ""
	return config, nil
}

// expired tells when the client certificate of a kubeconfig ended, if it has.
func expired(config *rest.Config, now time.Time) (on time.Time, is bool) {
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	if err != nil {
		return time.Time{}, false
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return time.Time{}, false
	}
	return leaf.NotAfter, now.After(leaf.NotAfter)
}
