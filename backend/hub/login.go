// Package hub puts into the cluster what a hub, or whoever has no access to the node, reads of it: the login of the site and the report.
package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
)

const managedBy = "app.kubernetes.io/managed-by"

// managed are the labels of what Touchdown makes in a cluster.
var managed = map[string]string{managedBy: "touchdown"}

// Login is the login of the site as a Secret of the cluster, for a hub that fetches it. The keys are those that Hive gives a hub.
type Login struct {
	Password   string // "" where none was made
	Kubeconfig string
}

// LoginRef names the Secret for a domain. Whoever may read Secrets of openshift-config administers the cluster.
func LoginRef(domain string) kube.Ref {
	sum := sha256.Sum256([]byte(domain))
	return kube.Secret("openshift-config", "touchdown-login-"+hex.EncodeToString(sum[:4]))
}

// ReadLogin reads the Secret; both texts are "" where there is none.
func ReadLogin(ctx context.Context, c *kube.Cluster, domain string) (l Login, err error) {
	ref := LoginRef(domain)
	err = c.Do(ctx, "reading "+ref.String(), func(ctx context.Context) error {
		l = Login{}
		secret, err := c.Core.Secrets(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			l = Login{Password: string(secret.Data["password"]), Kubeconfig: string(secret.Data["kubeconfig"])}
		}
		return err
	})
	return l, err
}

// PutLogin writes the Secret. No original is saved: it would hold the password. Undo is RemoveLogin.
func PutLogin(ctx context.Context, c *kube.Cluster, domain, user string, l Login) error {
	ref := LoginRef(domain)
	data := map[string][]byte{"kubeconfig": []byte(l.Kubeconfig)}
	if l.Password != "" {
		data["username"], data["password"] = []byte(user), []byte(l.Password)
	}
	_, err := c.PutSecret(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ref.Namespace, Name: ref.Name, Labels: managed,
		},
		Data: data, Type: corev1.SecretTypeOpaque,
	}, unsaved)
	return err
}

// RemoveLogin removes the Secret.
func RemoveLogin(ctx context.Context, c *kube.Cluster, domain string) error {
	_, err := c.Delete(ctx, LoginRef(domain), unsaved)
	return err
}

// unsaved is the kube.Save of an object that only Touchdown writes, whose undo is to remove it.
func unsaved(kube.Ref, []byte) error { return nil }
