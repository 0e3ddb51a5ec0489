// Command verdict says what OpenShift's login says about passwords of kubeadmin. The code is library-go's bootstrapauthenticator,
// which the oauth-server, the oauth-apiserver and the authentication operator all use.
//
// It reads one password a line from standard input and writes one JSON object a line: whether the password is accepted, why not,
// and the UID that a token of this login carries. Beyond the UID of the cluster's secret a token is not accepted.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/openshift/library-go/pkg/authentication/bootstrapauthenticator"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

type verdict struct {
	Enabled  bool   // the cluster offers the login of kubeadmin
	Accepted bool   //
	UID      string // of the user, which the tokens of this login carry
	Error    string // why not; "" for a wrong password
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: verdict KUBECONFIG < passwords")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making the API's clients: %w", err)
	}
	getter := bootstrapauthenticator.NewBootstrapUserDataGetter(clients.CoreV1(), clients.CoreV1())
	login := bootstrapauthenticator.New(getter)
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var v verdict
		if v.Enabled, err = getter.IsEnabled(); err != nil {
			v.Error = err.Error()
		}
		answer, ok, err := login.AuthenticatePassword(context.Background(), "kubeadmin", lines.Text())
		if err != nil {
			v.Error = err.Error()
		}
		if v.Accepted = ok && answer != nil; v.Accepted {
			v.UID = answer.User.GetUID()
		}
		if err := out.Encode(v); err != nil {
			return fmt.Errorf("writing a verdict: %w", err)
		}
	}
	return nil
}
