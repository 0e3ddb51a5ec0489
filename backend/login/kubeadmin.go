package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// maxAge is how much younger than the namespace kube-system the secret of kubeadmin may be: the login refuses one that was made
// later, so ours is the one of the installation, with another content.
const maxAge = time.Hour

// Kubeadmin is how people log in to the cluster, as far as its first administrator is concerned.
type Kubeadmin struct {
	Gone   message.Text // why kubeadmin cannot log in, in a sentence; "" when it can
	Others message.Text // who else lets people in, in a sentence; "" when nobody does
	hash   string       // of its password
	mark   string       // what Replace wrote beside it; "" while the password is the factory's
}

// markKey is the annotation of kubeadmin's secret that tells, after a hand-over too, whose password is in it.
const markKey = "touchdown.dev/password"

// markOf is the annotation's value for a password's hash: its SHA-256, in hex.
func markOf(hash string) string {
	sum := sha256.Sum256([]byte(hash))
	return hex.EncodeToString(sum[:])
}

// Ours tells whether Touchdown gave kubeadmin its password, in this job or in one before it.
func (k Kubeadmin) Ours() bool { return k.hash != "" && k.mark == markOf(k.hash) }

// Changed tells whether someone gave kubeadmin another password after Touchdown did.
func (k Kubeadmin) Changed() bool { return k.hash != "" && k.mark != "" && !k.Ours() }

// Accepts tells whether kubeadmin may log in with the password.
func (k Kubeadmin) Accepts(password string) bool {
	return k.Gone.String() == "" && bcrypt.CompareHashAndPassword([]byte(k.hash), []byte(password)) == nil
}

func secretRef() kube.Ref { return kube.Secret(metav1.NamespaceSystem, User) }

// Look reads how people log in.
func Look(ctx context.Context, c *kube.Cluster) (Kubeadmin, error) {
	var k Kubeadmin
	var secret *corev1.Secret
	err := c.Do(ctx, "reading how people log in", func(ctx context.Context) error {
		k, secret = Kubeadmin{}, nil
		get := metav1.GetOptions{}
		auth, err := c.Config.Authentications().Get(ctx, "cluster", get)
		switch {
		case err == nil && auth.Spec.Type != "" && auth.Spec.Type != configv1.AuthenticationTypeIntegratedOAuth:
			k.Gone = message.F("The cluster's own login is switched off (type %s).", auth.Spec.Type)
			return nil
		case err != nil && !apierrors.IsNotFound(err):
			return err
		}
		oauth, err := c.Config.OAuths().Get(ctx, "cluster", get)
		switch {
		case err == nil && len(oauth.Spec.IdentityProviders) > 0:
			k.Others = message.F("People log in with the cluster's identity provider %s.", oauth.Spec.IdentityProviders[0].Name)
		case err != nil && !apierrors.IsNotFound(err):
			return err
		}
		found, err := c.Core.Secrets(metav1.NamespaceSystem).Get(ctx, User, get)
		switch {
		case apierrors.IsNotFound(err):
			k.Gone = message.T("The cluster's owner has removed kubeadmin.")
			return nil
		case err != nil:
			return err
		}
		system, err := c.Core.Namespaces().Get(ctx, metav1.NamespaceSystem, get)
		if err != nil {
			return err
		}
		secret = found
		if found.CreationTimestamp.After(system.CreationTimestamp.Add(maxAge)) {
			k.Gone = message.T("The secret of kubeadmin was made again after the installation, so OpenShift does not accept it.")
		}
		return nil
	})
	if err != nil || secret == nil || k.Gone.String() != "" {
		return k, err
	}
	k.hash, k.mark = string(secret.Data[User]), secret.Annotations[markKey]
	if _, err := bcrypt.Cost([]byte(k.hash)); err != nil || secret.DeletionTimestamp != nil {
		k.Gone = message.T("The secret of kubeadmin holds no password that OpenShift accepts.")
	}
	return k, nil
}

// Replace gives kubeadmin the password with this hash, in the secret that is there, marks it as ours and reads it back. Tokens and sessions of the
// old password end with it: the login ties them to the content of the secret.
func Replace(ctx context.Context, c *kube.Cluster, hash string, save kube.Save) error {
	if _, err := kube.ChangeMarked(ctx, c, secretRef(), "data", kube.Mark{Key: markKey, Value: markOf(hash)}, func(data map[string]any) error {
		data[User] = base64.StdEncoding.EncodeToString([]byte(hash))
		return nil
	}, save); err != nil {
		return err
	}
	k, err := Look(ctx, c)
	if err == nil && (k.hash != hash || !k.Ours()) {
		err = &problem.Problem{
			Code:    "PWD-BCK",
			Summary: message.F("The password in %s is not the one that was put there.", secretRef().String()),
			Fix:     message.T("Retry; if it happens again, stop whatever else manages this secret."),
		}
	}
	return err
}

// Restore undoes a change of the login that original was saved before. Where the cluster's owner has removed the object there is
// nothing to put back, which is not an error.
func Restore(ctx context.Context, c *kube.Cluster, original []byte) (changed, removed bool, err error) {
	ref, err := kube.SavedRef(original)
	if err != nil {
		return false, false, err
	}
	changed, err = c.Restore(ctx, original)
	if apierrors.IsNotFound(err) && (ref == secretRef() || ref == clientCA()) {
		return false, true, nil
	}
	return changed, false, err
}
