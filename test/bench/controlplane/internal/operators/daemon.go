package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	mcv1 "github.com/openshift/api/machineconfiguration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"touchdown/test/bench/controlplane/internal/durable"
)

// Where machine-config-daemon keeps what it has done, below the root of the node.
const (
	currentFile = "etc/machine-config-daemon/currentconfig"
	originals   = "etc/machine-config-daemon/orig"
	rebootFile  = "run/machine-config-daemon-reboots" // gone with the boot that it was written in
)

// daemon does on a node what machine-config-daemon does there: it brings its files from one rendered configuration to the
// next. On a real node it handles units, services and reboots too; elsewhere there is only a folder of files.
type daemon struct {
	root string
	real bool
	hold func() error // when the files are written, and the units that were disabled for that are not enabled yet; may be nil
}

// apply brings the node to the rendered configuration called name. When that needs a reboot it returns only with ctx, and
// is called again after it.
func (d daemon) apply(ctx context.Context, name string, raw []byte, reboot bool, policies []policy) error {
	old, oldName, err := d.current()
	if err != nil {
		return err
	}
	if oldName == name {
		if _, err := os.Stat(filepath.Join(d.root, rebootFile)); d.real && err == nil {
			return d.reboot(ctx)
		}
		return nil // this boot has it
	}
	next, err := parseMachine(raw)
	if err != nil {
		return err
	}
	changed, gone, err := d.files(old, next)
	if err != nil {
		return err
	}
	if d.real {
		if err := d.disable(ctx, next); err != nil {
			return err
		}
	}
	if d.hold != nil {
		if err := d.hold(); err != nil {
			return err
		}
	}
	if d.real {
		if err := d.units(ctx, old, next); err != nil {
			return err
		}
		if !reboot {
			if err := d.services(ctx, changed, policies); err != nil {
				return err
			}
		}
	}
	if err := d.keep(name, raw); err != nil {
		return err
	}
	if err := d.forget(gone); err != nil {
		return err
	}
	if !d.real || !reboot {
		return nil
	}
	if err := durable.WriteFile(filepath.Join(d.root, rebootFile), nil, 0o600); err != nil {
		return err
	}
	return d.reboot(ctx)
}

// reboot waits for its own end.
func (d daemon) reboot(ctx context.Context) error {
	if err := systemctl(ctx, "reboot"); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// current is what the node has: a MachineConfig, as the real daemon keeps it. There is none at first.
func (d daemon) current() (machine, string, error) {
	data, err := os.ReadFile(filepath.Join(d.root, currentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return machine{}, "", nil
	}
	if err != nil {
		return machine{}, "", fmt.Errorf("reading the node's configuration: %w", err)
	}
	var mc mcv1.MachineConfig
	if err := json.Unmarshal(data, &mc); err != nil {
		return machine{}, "", fmt.Errorf("reading the node's configuration: %w", err)
	}
	m, err := parseMachine(mc.Spec.Config.Raw)
	return m, mc.Name, err
}

func (d daemon) keep(name string, raw []byte) error {
	mc := &mcv1.MachineConfig{
		TypeMeta:   metav1.TypeMeta{APIVersion: mcv1.GroupVersion.String(), Kind: "MachineConfig"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       mcv1.MachineConfigSpec{Config: runtime.RawExtension{Raw: raw}},
	}
	data, err := json.Marshal(mc)
	if err != nil {
		return fmt.Errorf("encoding the node's configuration: %w", err)
	}
	return durable.WriteFile(filepath.Join(d.root, currentFile), data, 0o600)
}

// drift says where the node is not as its configuration says: checkV3Files and checkV3Units of the real daemon (pkg/daemon,
// on_disk_validation.go), which compare no keys.
func (d daemon) drift(m machine) error {
	want := m.files()
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if path == coreKeys {
			continue
		}
		info, err := os.Lstat(filepath.Join(d.root, path))
		if err != nil {
			return fmt.Errorf("could not stat file %q: %w", path, err)
		}
		data, err := os.ReadFile(filepath.Join(d.root, path))
		switch {
		case err != nil:
			return fmt.Errorf("could not read file %q: %w", path, err)
		case info.Mode() != want[path].mode:
			return fmt.Errorf("mode mismatch for file: %q", path)
		case string(data) != string(want[path].data):
			return fmt.Errorf("content mismatch for file %q", path)
		}
	}
	return nil
}

// files writes what differs, and puts back what was there before a file that the new configuration does not have.
func (d daemon) files(old, next machine) (changed, gone []string, err error) {
	had, want := old.files(), next.files()
	for _, path := range slices.Sorted(maps.Keys(want)) {
		did, err := d.write(path, want[path], had)
		if err != nil {
			return nil, nil, err
		}
		if did {
			changed = append(changed, path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(had)) {
		if _, stays := want[path]; stays {
			continue
		}
		if err := d.restore(path, had[path].mode); err != nil {
			return nil, nil, err
		}
		gone = append(gone, path)
	}
	return append(changed, gone...), gone, nil
}

func (d daemon) write(path string, f laid, had map[string]laid) (bool, error) {
	target, orig := filepath.Join(d.root, path), d.orig(path)
	now, err := os.ReadFile(target)
	info, statErr := os.Stat(target)
	if err == nil && statErr == nil && string(now) == string(f.data) && info.Mode().Perm() == f.mode {
		return false, nil
	}
	if _, ours := had[path]; !ours && err == nil {
		if _, kept := os.Stat(orig); errors.Is(kept, fs.ErrNotExist) {
			if err := durable.WriteFile(orig, now, 0o600); err != nil {
				return false, err
			}
		}
	}
	if err := durable.WriteFile(target, f.data, f.mode); err != nil {
		return false, err
	}
	return true, d.own(path)
}

func (d daemon) restore(path string, mode fs.FileMode) error {
	target := filepath.Join(d.root, path)
	if data, err := os.ReadFile(d.orig(path)); err == nil {
		return durable.WriteFile(target, data, mode)
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return nil
}

// forget removes the originals of files that are themselves again. The new configuration is kept by then: a daemon that is
// interrupted before puts them back once more.
func (d daemon) forget(paths []string) error {
	for _, path := range paths {
		if err := os.Remove(d.orig(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forgetting the original of %s: %w", path, err)
		}
	}
	return nil
}

func (d daemon) orig(path string) string { return filepath.Join(d.root, originals, path+".mcdorig") }
