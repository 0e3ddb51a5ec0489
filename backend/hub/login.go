package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
)

// Published is the login as a Secret of the cluster, for a hub that fetches it. The keys are those that Hive gives a hub.
type Published struct {
	Password   string // "" where none was made
	Kubeconfig string
}

// PublishedRef names the Secret for a domain. Whoever may read Secrets of openshift-config administers the cluster.
func PublishedRef(domain string) kube.Ref {
	sum := sha256.Sum256([]byte(domain))
	return kube.Secret("openshift-config", "touchdown-login-"+hex.EncodeToString(sum[:4]))
}

// ReadPublished reads the Secret; both texts are "" where there is none.
func ReadPublished(ctx context.Context, c *kube.Cluster, domain string) (p Published, err error) {
	ref := PublishedRef(domain)
	err = c.Do(ctx, "reading "+ref.String(), func(ctx context.Context) error {
		p = Published{}
		secret, err := c.Core.Secrets(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			p = Published{Password: string(secret.Data["password"]), Kubeconfig: string(secret.Data["kubeconfig"])}
		}
		return err
	})
	return p, err
}

// Publish writes the Secret. No original is saved: it would hold the password. Undo is Unpublish.
func Publish(ctx context.Context, c *kube.Cluster, domain string, p Published) error {
	ref := PublishedRef(domain)
	data := map[string][]byte{"kubeconfig": []byte(p.Kubeconfig)}
	if p.Password != "" {
		data["username"], data["password"] = []byte(User), []byte(p.Password)
	}
	_, err := c.PutSecret(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ref.Namespace, Name: ref.Name, Labels: map[string]string{"app.kubernetes.io/managed-by": "touchdown"},
		},
		Data: data, Type: corev1.SecretTypeOpaque,
	}, unsaved)
	return err
}

// Unpublish removes the Secret.
func Unpublish(ctx context.Context, c *kube.Cluster, domain string) error {
	_, err := c.Delete(ctx, PublishedRef(domain), unsaved)
	return err
}

func unsaved(kube.Ref, []byte) error { return nil }
