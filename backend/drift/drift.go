// Package drift puts right what the Machine Config Daemon left half-written on the node: files, and units that it disabled.
//
// The daemon writes the files of a new configuration one after the other, and notes at their end that the node has it. When the power fails
// between the two, the next daemon compares the node with the old configuration, finds another one's files and goes no further, for good
// (openshift/machine-config-operator ab14c8e2843b, pkg/daemon/daemon.go, checkStateOnFirstRun). The known way out, the file
// /run/machine-config-daemon-force, is none at a site: with it the daemon fetches the image of the operating system from a registry
// (pkg/daemon/update.go, newMachineConfigDiff and updateLayeredOS). So the files become again what the old configuration says,
// and the daemon begins its update from the start.
//
// It also disables each unit that has contents before it writes it, and enables all of them at the end (pkg/daemon/file_writers.go, writeUnit,
// and update.go, writeUnits). A node whose power failed between the two may boot without its kubelet, and nothing would ever enable it again.
package drift

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
)

const (
	rendered  = "rendered-" + layout.Pool + "-"
	originals = "/etc/machine-config-daemon/orig" // origFileName of pkg/daemon/update.go
	shipped   = "/usr"                            // below it, /etc as the operating system's image has it
)

// certificates are files that another part of the daemon writes: getFilesToIgnore of pkg/daemon/on_disk_validation.go.
var certificates = []string{
	rhcos.KubeletCA, rhcos.Resources + "/configmaps/cloud-config/ca-bundle.pem", "/etc/mco/internal-registry-pull-secret.json",
}

// Half is what the daemon left half-written.
type Half struct {
	wants map[string]file // what has to lie at each path
	seen  map[string]file // what lies there
	also  map[string]bool // of these, what no configuration has, and the daemon looks for again
}

// Find looks for what the daemon wrote for another configuration of its pool in the place of the files of current, the name of a rendered
// MachineConfig, or took away for one. What anybody else wrote is not found. Nothing is found once the node has another configuration: the
// daemon has ended its update then, and says Degraded of the old one until it has told that, over a reboot too (pkg/daemon/writer.go, SetDone).
func Find(ctx context.Context, c *kube.Cluster, m *host.Machine, current string) (Half, error) {
	var h Half
	if now, err := readNote(m); err != nil || now.Metadata.Name != current {
		return h, err
	}
	all, err := renderings(ctx, c)
	if err != nil {
		return h, err
	}
	old, ok := all[current]
	if !ok {
		return h, fmt.Errorf("the cluster has no MachineConfig %s", current)
	}
	h = Half{map[string]file{}, map[string]file{}, map[string]bool{}}
	for p, want := range old {
		now := lies(m, p)
		if now.is(want) || slices.Contains(certificates, p) || !halfWritten(m, p, now, all) {
			continue
		}
		h.wants[p], h.seen[p], h.also[p] = want, now, now.there && !anyHas(all, p, now)
	}
	return h, nil
}

// Same tells whether two looks found the same. A daemon that refuses changes nothing; one that has begun again does.
func (h Half) Same(other Half) bool {
	return maps.EqualFunc(h.seen, other.seen, func(a, b file) bool { return a.is(b) })
}

// Empty tells that nothing is half-written.
func (h Half) Empty() bool { return len(h.seen) == 0 }

// PutBack lays the files that were found as they have to be, and returns their paths.
func (h Half) PutBack(m *host.Machine) (done []string, err error) {
	for _, p := range slices.Sorted(maps.Keys(h.wants)) {
		if h.also[p] { // the operating system's own, which the daemon put back and forgot
			if err := keepOriginal(m, p, h.seen[p]); err != nil {
				return done, err
			}
		}
		if want := h.wants[p]; want.there {
			err = m.WriteFile(p, want.data, want.mode)
		} else {
			err = m.Remove(p)
		}
		if err != nil {
			return done, fmt.Errorf("putting %s back: %w", p, err)
		}
		done = append(done, p)
	}
	return done, nil
}

// halfWritten tells whether what lies at a path is the daemon's: another configuration has it there, or has nothing there.
func halfWritten(m *host.Machine, p string, now file, all map[string]files) bool {
	if anyHas(all, p, now) {
		return true
	}
	if !anyLacks(all, p) {
		return false
	}
	if !now.there {
		return !now.odd
	}
	for _, at := range []string{path.Join(shipped, p), original(p)} {
		if f := lies(m, at); f.there && bytes.Equal(f.data, now.data) {
			return true
		}
	}
	return false
}

func anyHas(all map[string]files, p string, now file) bool {
	for _, other := range all {
		if f, ok := other[p]; ok && now.there && now.is(f) {
			return true
		}
	}
	return false
}

func anyLacks(all map[string]files, p string) bool {
	for _, other := range all {
		if f, ok := other[p]; !ok || !f.there {
			return true
		}
	}
	return false
}

// keepOriginal keeps a file where the daemon looks for what it has to put back, unless it has something there.
func keepOriginal(m *host.Machine, p string, now file) error {
	if m.Exists(original(p)) {
		return nil
	}
	if err := m.WriteFile(original(p), now.data, now.mode); err != nil {
		return fmt.Errorf("keeping the original of %s: %w", p, err)
	}
	return nil
}

func original(p string) string { return path.Join(originals, p+".mcdorig") }

// lies is what the node has at a path.
func lies(m *host.Machine, p string) file {
	info, err := os.Lstat(m.Path(p))
	if errors.Is(err, fs.ErrNotExist) {
		return file{}
	}
	if err != nil || !info.Mode().IsRegular() {
		return file{odd: true}
	}
	data, err := m.ReadFile(p)
	if err != nil {
		return file{odd: true}
	}
	return file{there: true, data: data, mode: info.Mode().Perm()}
}

// renderings are the configurations of the node's pool that the cluster has, by their names. One that cannot be read is left out.
func renderings(ctx context.Context, c *kube.Cluster) (map[string]files, error) {
	objects, _, err := c.List(ctx, kube.MachineConfig(""))
	if err != nil {
		return nil, err
	}
	all := map[string]files{}
	for _, o := range objects {
		meta, _ := o["metadata"].(map[string]any)
		spec, _ := o["spec"].(map[string]any)
		name, _ := meta["name"].(string)
		raw, err := json.Marshal(spec["config"])
		if err != nil || !strings.HasPrefix(name, rendered) {
			continue
		}
		if f, err := parse(raw); err == nil {
			all[name] = f
		}
	}
	return all, nil
}
