package nodeconfig

import (
	"context"
	"slices"
	"strings"

	"touchdown/backend/kube"
)

// calmFiles are what every supported release takes without a reboot: the pull secret since 4.7.4, mirrors by a reload of CRI-O.
var calmFiles = []string{pullSecretFile, registriesFile}

// Reboots returns those of the changes for which the node would reboot by itself: the ones of files without a node disruption
// policy. Releases before 4.17 have none but their own, and do not know the object.
func Reboots(ctx context.Context, c *kube.Cluster, changes []Change) ([]Change, error) {
	mc, err := c.Get(ctx, kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: "machineconfigurations", Name: "cluster"})
	if err != nil {
		return nil, err
	}
	policies, _ := below(mc, "status", "nodeDisruptionPolicyStatus", "clusterPolicies")["files"].([]any)
	calm := slices.Clone(calmFiles)
	for _, p := range policies {
		policy, _ := p.(map[string]any)
		path := text(policy, "path")
		calm = slices.DeleteFunc(calm, func(have string) bool { return have == path })
		if !needsReboot(policy) {
			calm = append(calm, path)
		}
	}
	return Disturbing(changes, calm), nil
}

// Disturbing returns the changes of files that calm does not name. A folder in it stands for all below.
func Disturbing(changes []Change, calm []string) []Change {
	var out []Change
	for _, ch := range changes {
		covered := slices.ContainsFunc(calm, func(path string) bool {
			return ch.File == path || strings.HasPrefix(ch.File, strings.TrimSuffix(path, "/")+"/")
		})
		if ch.Pending && ch.File != "" && !covered {
			out = append(out, ch)
		}
	}
	return out
}

func needsReboot(policy map[string]any) bool {
	actions, _ := policy["actions"].([]any)
	return slices.ContainsFunc(actions, func(a any) bool {
		action, _ := a.(map[string]any)
		return text(action, "type") == "Reboot"
	})
}

// Calm are the files that every node takes without a reboot.
func Calm() []string { return slices.Clone(calmFiles) }

// Baked are the files that a node from Touchdown's factory takes without a reboot, for a review while the cluster's API does not
// run yet.
func Baked() []string { return append(slices.Clone(calmFiles), chronyFile, storageFile) }
