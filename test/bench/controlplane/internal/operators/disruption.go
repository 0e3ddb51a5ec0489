package operators

import (
	"context"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// runDisruption plays the part of the machine config operator that tells which files a node takes without a reboot: its own
// defaults and what the cluster's administrator added.
func runDisruption(ctx context.Context, e *Env) {
	r := operatorv1.GroupVersion.WithResource("machineconfigurations")
	e.loop(ctx, "disruption", []resource{r}, func(ctx context.Context) error {
		mc, err := e.Operator.MachineConfigurations().Get(ctx, "cluster", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the machine configuration: %w", err)
		}
		want := defaultPolicies()
		for _, f := range mc.Spec.NodeDisruptionPolicy.Files {
			want = slices.DeleteFunc(want, func(old operatorv1.NodeDisruptionPolicyStatusFile) bool { return old.Path == f.Path })
			want = append(want, statusFile(f))
		}
		have := mc.Status.NodeDisruptionPolicyStatus.ClusterPolicies.Files
		if fingerprint(have) == fingerprint(want) {
			return nil
		}
		none := []operatorv1.NodeDisruptionPolicyStatusAction{{Type: operatorv1.NoneStatusAction}}
		mc.Status.NodeDisruptionPolicyStatus.ClusterPolicies.Files = want
		mc.Status.NodeDisruptionPolicyStatus.ClusterPolicies.SSHKey.Actions = none
		// A client of an older definition loses the field; then there are no policies, as on such a cluster.
		if _, err := e.Operator.MachineConfigurations().UpdateStatus(ctx, mc, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("writing the disruption policies: %w", err)
		}
		return nil
	})
}

// defaultPolicies are those of the operator itself that the bench's files touch.
func defaultPolicies() []operatorv1.NodeDisruptionPolicyStatusFile {
	action := func(kind operatorv1.NodeDisruptionPolicyStatusActionType) []operatorv1.NodeDisruptionPolicyStatusAction {
		return []operatorv1.NodeDisruptionPolicyStatusAction{{Type: kind}}
	}
	return []operatorv1.NodeDisruptionPolicyStatusFile{
		{Path: "/var/lib/kubelet/config.json", Actions: action(operatorv1.NoneStatusAction)},
		{Path: "/etc/containers/registries.conf", Actions: action(operatorv1.SpecialStatusAction)},
		{Path: "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt", Actions: []operatorv1.NodeDisruptionPolicyStatusAction{
			{Type: operatorv1.RestartStatusAction, Restart: &operatorv1.RestartService{ServiceName: "coreos-update-ca-trust.service"}},
			{Type: operatorv1.RestartStatusAction, Restart: &operatorv1.RestartService{ServiceName: "crio.service"}},
		}},
	}
}

func statusFile(f operatorv1.NodeDisruptionPolicySpecFile) operatorv1.NodeDisruptionPolicyStatusFile {
	out := operatorv1.NodeDisruptionPolicyStatusFile{Path: f.Path}
	for _, a := range f.Actions {
		out.Actions = append(out.Actions, operatorv1.NodeDisruptionPolicyStatusAction{
			Type: operatorv1.NodeDisruptionPolicyStatusActionType(a.Type), Reload: a.Reload, Restart: a.Restart,
		})
	}
	return out
}

// noReboot returns the paths whose changes need no reboot; a folder counts for all below it.
func (e *Env) noReboot(ctx context.Context) ([]string, error) {
	mc, err := e.Operator.MachineConfigurations().Get(ctx, "cluster", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the machine configuration: %w", err)
	}
	var paths []string
	for _, f := range mc.Status.NodeDisruptionPolicyStatus.ClusterPolicies.Files {
		if !slices.ContainsFunc(f.Actions, func(a operatorv1.NodeDisruptionPolicyStatusAction) bool {
			return a.Type == operatorv1.RebootStatusAction
		}) {
			paths = append(paths, f.Path)
		}
	}
	return paths, nil
}

// harsh fingerprints the part of a MachineConfig whose change reboots the node: not SSH keys, not files with a policy. "" when
// there is no such part.
func harsh(spec map[string]any, noReboot []string) string {
	spec = runtime.DeepCopyJSON(spec)
	config, _ := spec["config"].(map[string]any)
	delete(config, "ignition")
	delete(config, "passwd")
	if storage, _ := config["storage"].(map[string]any); storage != nil {
		files, _ := storage["files"].([]any)
		files = slices.DeleteFunc(files, func(f any) bool {
			file, _ := f.(map[string]any)
			path, _ := file["path"].(string)
			return slices.ContainsFunc(noReboot, func(p string) bool { return path == p || strings.HasPrefix(path, strings.TrimSuffix(p, "/")+"/") })
		})
		storage["files"] = files
		if len(files) == 0 {
			delete(storage, "files")
		}
		if len(storage) == 0 {
			delete(config, "storage")
		}
	}
	if len(config) == 0 {
		delete(spec, "config")
	}
	for key, v := range spec {
		if v == nil || v == "" || v == false {
			delete(spec, key)
		}
	}
	if len(spec) == 0 {
		return ""
	}
	return fingerprint(spec)
}
