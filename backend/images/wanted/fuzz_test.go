package wanted

import (
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/images/ref"
)

// FuzzPodman reads command lines of units and scripts: what it finds are references with a registry.
func FuzzPodman(f *testing.F) {
	f.Add(`/bin/sh -c "until podman run --rm --net=host quay.io/a:1 x; do sleep 1; done"`, "IMAGE")
	f.Add("podman pull ${IMAGE:-quay.io/b:2} ; podman create $IMAGE", "IMAGE")
	f.Fuzz(func(t *testing.T, line, name string) {
		images, _ := podman(line, map[string]string{name: line})
		for _, image := range images {
			if r, err := ref.Parse(image); err != nil || r.Host == "" {
				t.Errorf("%q was taken for an image", image)
			}
		}
	})
}

// FuzzStaticPod reads manifests that the kubelet would start, and settings of CRI-O.
func FuzzStaticPod(f *testing.F) {
	f.Add([]byte("kind: Pod\nmetadata: {name: a, namespace: b}\nspec:\n  containers:\n  - {name: c, image: 'quay.io/a:1'}\n  volumes:\n  - {name: v, image: {reference: 'r.example/x'}}\n"))
	f.Add([]byte(`{"kind":"Pod","spec":{"initContainers":[null],"volumes":[{"image":null}]}}`))
	f.Add([]byte("[crio.image]\npause_image = \"quay.io/p:1\"\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		m := hosttest.New(t)
		m.File(manifestDir+"/pod.yaml", string(content))
		m.File(crioConf, string(content))
		g := &gathering{}
		g.staticPods(m.Machine)
		g.pause(t.Context(), Place{Host: m.Machine}, &store{})
	})
}
