package line

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	configv1 "github.com/openshift/api/config/v1"

	bench "touchdown/test/bench/images"
	"touchdown/test/wait"
)

// TestDefaultCatalogsFailTheRehearsal: with the catalog sources of a freshly installed cluster, whose pods pull at each start, a
// real CRI-O and kubelet do not bring the node back without registries, and the rehearsal says what to do. After the bake has
// switched them off it passes.
func TestDefaultCatalogsFailTheRehearsal(t *testing.T) {
	l, folder, _ := lineWithRegistry(t, 15*time.Minute)
	at := slices.IndexFunc(folder.Images, func(i bench.Image) bool { return !strings.Contains(i.Names[0], "@") })
	if at < 0 {
		t.Fatal("no image of the bench has a tag")
	}
	l.switchCatalogsOn(folder.Images[at].Names[0])
	l.run("images", "seed")
	if out, err := l.rehearse(); err == nil || !strings.Contains(out, "default catalog sources off with `touchdown factory bake`") {
		t.Errorf("with the default catalog sources: %v\n%s", err, out)
	}
	if out, err := l.Bake(l.ctx); err != nil || !strings.Contains(out, "The default catalog sources are off") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := l.rehearse(); err != nil {
		t.Errorf("without them: %v\n%s", err, out)
	}
}

// switchCatalogsOn makes the cluster what it was before a bake, with an image that the bench has, and waits for the pods.
func (l *line) switchCatalogsOn(image string) {
	l.t.Helper()
	config, err := l.Kubernetes()
	l.must(err)
	client, err := kubernetes.NewForConfig(config)
	l.must(err)
	objects, err := dynamic.NewForConfig(config)
	l.must(err)
	_, err = client.CoreV1().ConfigMaps("bench-stand-ins").Create(l.ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "catalogs"}, Data: map[string]string{"image": image},
	}, metav1.CreateOptions{})
	l.must(err)
	_, err = objects.Resource(configv1.GroupVersion.WithResource("operatorhubs")).Patch(l.ctx, "cluster", types.MergePatchType,
		[]byte(`{"spec":{"disableAllDefaultSources":null}}`), metav1.PatchOptions{})
	l.must(err)
	l.must(wait.For(l.ctx, "the pods of the default catalog sources", func(ctx context.Context) error {
		pods, err := client.CoreV1().Pods("openshift-marketplace").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(pods.Items) < 4 {
			return fmt.Errorf("%d pods", len(pods.Items))
		}
		for _, p := range pods.Items {
			if p.Spec.Containers[0].ImagePullPolicy != corev1.PullAlways {
				return wait.Final(fmt.Errorf("pod %s has the pull policy %s", p.Name, p.Spec.Containers[0].ImagePullPolicy))
			}
		}
		return nil
	}))
	l.must(l.PodsReady(l.ctx))
}

// rehearse goes through the two boots of a rehearsal and returns what was found.
func (l *line) rehearse() (string, error) {
	l.t.Helper()
	before, begun := l.Boots(), time.Now()
	if _, err := l.Run(l.ctx, "touchdown", "images", "rehearse"); err != nil {
		l.t.Logf("the command ended with the reboot: %v", err)
	}
	l.must(l.Booted(l.ctx, before+1))
	l.must(l.PodsReady(l.ctx))
	out, err := l.Run(l.ctx, "touchdown", "images", "rehearse", "--last")
	l.t.Logf("rehearsal, %.1f s, %v\n%s", time.Since(begun).Seconds(), err, out)
	return string(out), err
}
