package operators

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"touchdown/backend/domain"
)

// image lays out what the router's image has (openshift/router, images/router/haproxy/Dockerfile).
func (p *routerPod) image(t *testing.T) {
	t.Helper()
	const lib = "var/lib/haproxy/"
	for _, dir := range []string{
		"usr", "proc", "dev", "tmp", "etc", lib + "router/certs", lib + "router/cacerts", lib + "router/allowlists", lib + "conf/.tmp",
		lib + "run", lib + "bin", lib + "log", lib + "mtls",
	} {
		fatal(t, os.MkdirAll(filepath.Join(p.root, dir), 0o755))
	}
	for _, link := range []string{"bin", "lib", "lib64"} {
		fatal(t, os.Symlink("usr/"+link, filepath.Join(p.root, link)))
	}
	files := program(t, "router") + ".conf"
	for _, name := range []string{"haproxy-config.template", "default_pub_keys.pem", "error-page-404.http", "error-page-503.http"} {
		text, err := os.ReadFile(filepath.Join(files, name))
		fatal(t, err)
		fatal(t, os.WriteFile(filepath.Join(p.root, lib, "conf", name), text, 0o600))
	}
	fatal(t, os.WriteFile(filepath.Join(p.root, "openshift-router"), nil, 0o700))
	fatal(t, os.WriteFile(filepath.Join(p.root, lib, "reload-haproxy"), []byte(haproxy), 0o700))
	fatal(t, syscall.Mkfifo(filepath.Join(p.root, lib, "run/told"), 0o600))
	hosts, err := os.ReadFile(hostsFile(t, p.b))
	fatal(t, err)
	fatal(t, os.WriteFile(filepath.Join(p.root, "etc/hosts"), hosts, 0o600))
}

// account gives it the rights that the operator gives to the router's, and no more.
func (p *routerPod) account(t *testing.T) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(operatorConfig(p.b))
	fatal(t, err)
	fatal(t, clientcmdapi.FlattenConfig(config))
	for _, user := range config.AuthInfos {
		user.Impersonate = "system:serviceaccount:" + domain.RouterNamespace + ":router"
		user.ImpersonateGroups = []string{"system:serviceaccounts", "system:serviceaccounts:" + domain.RouterNamespace, "system:authenticated"}
	}
	fatal(t, clientcmd.WriteToFile(*config, filepath.Join(p.root, "etc/kubeconfig")))
}

// mount lays out the volumes of a pod.
func (p *routerPod) mount(ctx context.Context, d *appsv1.Deployment) error {
	spec := d.Spec.Template.Spec
	for _, m := range spec.Containers[0].VolumeMounts {
		files := map[string][]byte{}
		for _, v := range spec.Volumes {
			switch {
			case v.Name != m.Name:
			case v.Secret != nil:
				secret, err := p.kube.CoreV1().Secrets(d.Namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
				if err != nil {
					return err
				}
				files = secret.Data
			case v.ConfigMap != nil:
				cm, err := p.kube.CoreV1().ConfigMaps(d.Namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				for _, item := range v.ConfigMap.Items {
					files[item.Path] = []byte(cm.Data[item.Key])
				}
			}
		}
		dir := filepath.Join(p.root, m.MountPath)
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
			return err
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

func variables(c corev1.Container) []string {
	all := []string{
		"PATH=/usr/sbin:/usr/bin:/bin", "KUBECONFIG=/etc/kubeconfig",
		"TEMPLATE_FILE=/var/lib/haproxy/conf/haproxy-config.template", "RELOAD_SCRIPT=/var/lib/haproxy/reload-haproxy", // the image's
	}
	for _, v := range c.Env {
		all = append(all, v.Name+"="+v.Value)
	}
	return all
}
