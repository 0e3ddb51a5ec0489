package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"touchdown/test/bench/images"
	"touchdown/test/bench/made"
	"touchdown/test/wait"
)

// Graphroot is CRI-O's own store on the node.
const Graphroot = "/var/lib/containers/storage"

// stockNamespace has the pods of a stocked node that are not static ones.
const stockNamespace = "plant"

// Stocked returns the name of a prepared disk with an installed node whose store has all images of a size, as if pulled,
// and that runs pods of some of them: static ones, one with an init container, and pods that are bound to the node.
func Stocked(ctx context.Context, size images.Size) (string, error) {
	folder, err := images.Find(size)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnable, err)
	}
	installed, err := Installed(ctx)
	if err != nil {
		return "", err
	}
	sources, err := keyOf(made.Stocked)
	if err != nil {
		return "", err
	}
	o := Options{Image: installed}
	return EnsureImage(ctx, "stocked-"+size.Name, strings.TrimPrefix(installed, "installed-")+"-"+folder.Key()+"-"+sources, o, func(ctx context.Context, m *Machine) error {
		return m.stock(ctx, folder)
	})
}

// StockedFactory returns the same node baked and armed, as Factory does.
func StockedFactory(ctx context.Context, size images.Size) (string, error) {
	stocked, err := Stocked(ctx, size)
	if err != nil {
		return "", err
	}
	bake, err := bakeKey()
	if err != nil {
		return "", err
	}
	return EnsureImage(ctx, "baked-"+size.Name, strings.TrimPrefix(stocked, "stocked-"+size.Name+"-")+"-"+bake, Options{Image: stocked}, func(ctx context.Context, m *Machine) error {
		return m.bake(ctx)
	})
}

func (m *Machine) stock(ctx context.Context, folder *images.Folder) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wait.Timeout(10*time.Minute), errors.New("the node's store was not filled"))
	defer cancel()
	if err := m.PutImages(ctx, folder); err != nil {
		return err
	}
	for _, pod := range staticPods(folder) {
		data, err := yaml.Marshal(pod)
		if err != nil {
			return fmt.Errorf("encoding a static pod: %w", err)
		}
		if err := m.WriteFile("/etc/kubernetes/manifests/"+pod.Name+".yaml", data, 0o600); err != nil {
			return err
		}
	}
	if err := m.Boot(ctx); err != nil {
		return err
	}
	stop, err := m.ServeFactory(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := m.PodsReady(ctx); err != nil {
		return err
	}
	if err := m.deploy(ctx, folder); err != nil {
		return err
	}
	if err := m.PodsReady(ctx); err != nil {
		return err
	}
	return m.PowerOff(ctx)
}

// PutImages puts all images of a folder into the store of a machine that is off, without a registry.
func (m *Machine) PutImages(ctx context.Context, folder *images.Folder) error {
	err := m.world.run(ctx, filepath.Join(m.cache, "bin", "imagestore"), filepath.Join(m.disk(), Graphroot), folder.Dir)
	if err != nil {
		return fmt.Errorf("filling the node's store: %w", err)
	}
	return nil
}

// staticPods run before the API does: one with an init container that changes files, one in the pods' network, and the
// one whose image has 45 layers.
func staticPods(folder *images.Folder) []*v1.Pod {
	deep, _ := folder.Named(images.Host + "/" + images.DeepName)
	var pods []*v1.Pod
	for n, i := range []images.Image{folder.Images[0], folder.Images[1], deep} {
		pod := stockPod(fmt.Sprintf("stock-%d", n), "openshift-config", i.ByDigest())
		pod.Spec.HostNetwork = n != 1
		pods = append(pods, pod)
	}
	pods[0].Spec.InitContainers = []v1.Container{{
		Name: "init", Image: folder.Images[2].ByDigest(), ImagePullPolicy: v1.PullIfNotPresent,
		Command: []string{"/pod", "touch", "/etc/empty", "/etc/secret", "/bin/su", "/new"},
	}}
	return pods
}

func stockPod(name, namespace, image string) *v1.Pod {
	no := false
	return &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app": name}},
		Spec: v1.PodSpec{
			AutomountServiceAccountToken: &no,
			Containers:                   []v1.Container{{Name: "main", Image: image, ImagePullPolicy: v1.PullIfNotPresent}},
		},
	}
}

// deploy makes Deployments, and their pods, which here nobody else makes: of images with tags, one of several platforms,
// one with its own volume, and two that share an image.
func (m *Machine) deploy(ctx context.Context, folder *images.Folder) error {
	config, err := m.Kubernetes()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 1 {
		return fmt.Errorf("finding the node: %d nodes: %w", len(nodes.Items), err)
	}
	for n, i := range []int{3, 27, 31, 47, 58, 31} {
		pod := stockPod(fmt.Sprintf("app-%d", n), stockNamespace, folder.Images[i].Names[0])
		replicas := int32(1)
		_, err := client.AppsV1().Deployments(stockNamespace).Create(ctx, &appsv1.Deployment{
			ObjectMeta: pod.ObjectMeta,
			Spec: appsv1.DeploymentSpec{
				Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: pod.Labels},
				Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("making a deployment: %w", err)
		}
		pod.Name += "-6f5c7d9b8-x2x7m"
		pod.Spec.NodeName = nodes.Items[0].Name
		if _, err := client.CoreV1().Pods(stockNamespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("making a pod: %w", err)
		}
	}
	return nil
}
