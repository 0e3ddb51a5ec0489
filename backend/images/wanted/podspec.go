package wanted

import (
	"encoding/json"
	"fmt"
	"slices"

	"touchdown/backend/images/ref"
)

// bootNamespaces hold what a single node does not get up without, also where the priority class does not say so: the control
// plane, its certificates' approval, the cluster network, name service, the router of the API's names, and the operators
// that render configuration for all of these.
var bootNamespaces = []string{
	"openshift-apiserver", "openshift-authentication", "openshift-cluster-machine-approver", "openshift-cluster-version",
	"openshift-dns", "openshift-dns-operator", "openshift-etcd", "openshift-host-network", "openshift-ingress",
	"openshift-ingress-operator", "openshift-kube-apiserver", "openshift-kube-apiserver-operator",
	"openshift-kube-controller-manager", "openshift-kube-scheduler", "openshift-machine-config-operator", "openshift-multus",
	"openshift-network-node-identity", "openshift-network-operator", "openshift-oauth-apiserver", "openshift-ovn-kubernetes",
	"openshift-sdn", "openshift-service-ca",
}

// podSpec is what matters of a pod.
type podSpec struct {
	PriorityClassName   string      `json:"priorityClassName"`
	Containers          []container `json:"containers"`
	InitContainers      []container `json:"initContainers"`
	EphemeralContainers []container `json:"ephemeralContainers"`
	Volumes             []struct {
		Name  string `json:"name"`
		Image *struct {
			Reference  string `json:"reference"`
			PullPolicy string `json:"pullPolicy"`
		} `json:"image"`
		ContainerDisk *struct { // of KubeVirt's virtual machines
			Image           string `json:"image"`
			ImagePullPolicy string `json:"imagePullPolicy"`
		} `json:"containerDisk"`
	} `json:"volumes"`
}

type container struct {
	Name            string `json:"name"`
	Image           string `json:"image"`
	ImagePullPolicy string `json:"imagePullPolicy"`
}

// asked is one image of a pod.
type asked struct {
	name   string
	by     string // container or volume
	always bool
}

func (s podSpec) images() []asked {
	var all []asked
	for _, c := range slices.Concat(s.InitContainers, s.Containers, s.EphemeralContainers) {
		all = append(all, ask(c.Image, c.Name, c.ImagePullPolicy))
	}
	for _, v := range s.Volumes {
		if v.Image != nil {
			all = append(all, ask(v.Image.Reference, "volume "+v.Name, v.Image.PullPolicy))
		}
		if v.ContainerDisk != nil {
			all = append(all, ask(v.ContainerDisk.Image, "disk "+v.Name, v.ContainerDisk.ImagePullPolicy))
		}
	}
	return slices.DeleteFunc(all, func(a asked) bool { return a.name == "" }) // an image volume may be without
}

// ask works out the pull policy: without one the kubelet and the API take Always for the tag latest or none.
func ask(image, by, policy string) asked {
	a := asked{name: image, by: by, always: policy == "Always"}
	if r, err := ref.Parse(image); err == nil && policy == "" {
		a.always = r.Floats()
	}
	return a
}

// need is what a pod of this kind in this namespace is needed for.
func (s podSpec) need(namespace string) Need {
	if s.PriorityClassName == "system-node-critical" || slices.Contains(bootNamespaces, namespace) {
		return Boot
	}
	return Run
}

// addPod notes the images of a pod or of a template.
func (g *gathering) addPod(s podSpec, n Needer) {
	for _, a := range s.images() {
		u := use{name: a.name, Needer: n}
		if a.always {
			u.Always = a.by
		}
		g.add(u)
	}
}

// decode takes a part of an object, of whatever the API sent, into a struct.
func decode(object map[string]any, to any, path ...string) error {
	var v any = object
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("reading an object: %w", err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("reading an object: %w", err)
	}
	return nil
}
