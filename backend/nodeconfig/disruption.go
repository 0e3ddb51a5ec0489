package nodeconfig

import (
	"context"
	"path"
	"slices"
	"strings"

	"touchdown/backend/kube"
)

// noRebootFiles are what every supported release takes without a reboot: the pull secret since 4.7.4, mirrors by a reload of CRI-O, the
// trust bundle by a restart of CRI-O (openshift/machine-config-operator pkg/daemon/update.go, release-4.14 since December 2023; from
// release-4.17 on a default node disruption policy, pkg/apihelpers).
var noRebootFiles = []string{pullSecretFile, registriesFile, anchorFile}

// Reboots returns those of the changes for which the node would reboot automatically. Since 4.17 the node disruption policies decide,
// the operator's own and the cluster's together; older releases do not know the object.
func Reboots(ctx context.Context, c *kube.Cluster, changes []Change) ([]Change, error) {
	mc, err := c.Get(ctx, kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: "machineconfigurations", Name: "cluster"})
	if err != nil {
		return nil, err
	}
	d := disruption(below(mc, "status", "nodeDisruptionPolicyStatus", "clusterPolicies"))
	if len(d) == 0 {
		return Disruptive(changes, noRebootFiles), nil
	}
	return pending(changes, d.reboot), nil
}

// disruption are the node disruption policies in force. What they say of a change is worked out as the node's daemon does
// (openshift/machine-config-operator, pkg/daemon/update.go, calculatePostConfigChangeNodeDisruptionActionFromMCDiffs), and held
// against it by test/bench/daemon.
type disruption map[string]any

func (d disruption) reboot(ch Change) bool {
	if ch.File != "" {
		if closest, found := d.file(ch.File); !found || needsReboot(closest) {
			return true
		}
	}
	for _, unit := range ch.Units {
		i := slices.IndexFunc(d.list("units"), func(u any) bool { return named(u, "name") == unit })
		if i < 0 || needsReboot(d.list("units")[i]) {
			return true
		}
	}
	return ch.Login && needsReboot(d["sshkey"])
}

// file is the policy of a file: that with the longest path which is the file or a folder above it. The root is above nothing there.
func (d disruption) file(file string) (closest any, found bool) {
	longest := 0
	for _, policy := range d.list("files") {
		have := named(policy, "path")
		if (have == file || strings.HasPrefix(file, path.Clean(have)+"/")) && len(have) > longest {
			closest, longest = policy, len(have)
		}
	}
	return closest, longest > 0
}

func (d disruption) list(key string) []any {
	list, _ := d[key].([]any)
	return list
}

func named(policy any, key string) string {
	m, _ := policy.(map[string]any)
	return text(m, key)
}

func needsReboot(policy any) bool {
	m, _ := policy.(map[string]any)
	actions, _ := m["actions"].([]any)
	return slices.ContainsFunc(actions, func(a any) bool { return named(a, "type") == "Reboot" })
}

// Disruptive returns the changes of units, and of files that noReboot does not name. A folder in it stands for all below.
func Disruptive(changes []Change, noReboot []string) []Change {
	return pending(changes, func(ch Change) bool {
		covered := slices.ContainsFunc(noReboot, func(path string) bool {
			return ch.File == path || strings.HasPrefix(ch.File, strings.TrimSuffix(path, "/")+"/")
		})
		return ch.File != "" && !covered || len(ch.Units) > 0
	})
}

func pending(changes []Change, which func(Change) bool) []Change {
	var out []Change
	for _, ch := range changes {
		if ch.Pending && which(ch) {
			out = append(out, ch)
		}
	}
	return out
}

// WithoutReboot are the files that every node takes without a reboot.
func WithoutReboot() []string { return slices.Clone(noRebootFiles) }

// Baked are the files that a node from Touchdown's factory takes without a reboot, for a review while the cluster's API does not
// run yet.
func Baked() []string { return append(slices.Clone(noRebootFiles), chronyFile, storageFile) }
