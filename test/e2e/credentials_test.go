package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/crypto/bcrypt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"touchdown/steps/handout"
	"touchdown/test/bench/landing"
)

// factoryPassword is kubeadmin's in the bench's seed.
const factoryPassword = "factr-yline-bench-passw"

// letIn asks a landed node for its credentials and uses them as the people of the site do, from the site's own network: the
// kubeconfig opens the API under its new name, and kubeadmin has the password that was shown, no longer the factory's.
func letIn(ctx context.Context, l *landing.Landing) error {
	const file = "/run/credentials.json"
	if out, code, err := l.Touchdown(ctx, "credentials", "-o", "json", "--out", file, "--force"); err != nil || code != 0 {
		return fmt.Errorf("touchdown credentials ended with %d, %w: %s", code, err, out)
	}
	content, err := l.Node.ReadFile(file)
	if err != nil {
		return err
	}
	var got handout.LogIn
	if err := json.Unmarshal(content, &got); err != nil {
		return fmt.Errorf("reading the credentials: %w", err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(got.Kubeconfig))
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if config.Host != got.API {
		return fmt.Errorf("the kubeconfig leads to %s, the API is at %s", config.Host, got.API)
	}
	config.Dial = l.Site.Client().DialContext
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client of the kubeconfig: %w", err)
	}
	secret, err := client.CoreV1().Secrets("kube-system").Get(ctx, "kubeadmin", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("with the kubeconfig, from the site: %w", err)
	}
	hash := secret.Data["kubeadmin"]
	if err := bcrypt.CompareHashAndPassword(hash, []byte(got.Password)); err != nil {
		return fmt.Errorf("the password of %d characters that was handed out does not open the cluster: %w", len(got.Password), err)
	}
	if bcrypt.CompareHashAndPassword(hash, []byte(factoryPassword)) == nil {
		return fmt.Errorf("the factory's password still opens the cluster")
	}
	return secretKept(ctx, l, file, got)
}

// secretKept looks for the password on the node: it is in the file that was asked for, which only root reads, and nowhere else.
func secretKept(ctx context.Context, l *landing.Landing, file string, got handout.LogIn) error {
	if mode, err := l.Node.Shell(ctx, "stat -c %a "+file); err != nil || strings.TrimSpace(mode) != "600" {
		return fmt.Errorf("the file has mode %s, %w", mode, err)
	}
	if err := l.Node.WriteFile("/run/looked-for", bytes.TrimSpace([]byte(got.Password)), 0o600); err != nil {
		return err
	}
	found, err := l.Node.Shell(ctx, "rm "+file+"; grep -rlFf /run/looked-for /var/lib/touchdown /var/log /var/tmp /tmp; journalctl --no-pager | grep -cFf /run/looked-for; rm /run/looked-for")
	if err != nil || strings.TrimSpace(found) != "0" {
		return fmt.Errorf("the password lies in %s, %w", found, err)
	}
	return nil
}
