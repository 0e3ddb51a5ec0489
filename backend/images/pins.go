package images

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// crioDropIns is the folder that CRI-O reads behind crio.conf, in the order of the names; the last one to set a key wins.
// No MachineConfig lays our two files, so they are written here.
const crioDropIns = rhcos.CrioDropIns

const (
	pinsFile   = crioDropIns + "/60-touchdown-pins.conf"
	repairFile = crioDropIns + "/60-touchdown-repair.conf"
)

// repairOff keeps CRI-O from emptying its own store. Seen on CRI-O 1.34.0: after a stop without shutdown, with containers
// running whose image lies in an additional store, its repair takes those containers' layers for damaged, fails, and wipes the
// whole primary store. What it would have found is looked for by `touchdown images check` after each boot.
const repairOff = `# Written by Touchdown: see "touchdown images status".
[crio]
internal_repair = false
`

// crioConfig is what matters here of crio.conf and its drop-ins.
type crioConfig struct {
	Crio struct {
		Image struct {
			Pinned []string `toml:"pinned_images"`
		} `toml:"image"`
	} `toml:"crio"`
}

// pin lets the kubelet's garbage collection leave the named images alone. It adds to what others pin. CRI-O has pins since 1.28
// (cri-o/cri-o pkg/config/config.go); the 1.27 of OpenShift 4.14 passes over the key. There garbage collection may remove images
// of CRI-O's own store; the seeded store is read-only.
func pin(ctx context.Context, m *host.Machine, names []string) error {
	all, err := pinnedByOthers(m)
	if err != nil {
		return err
	}
	all = append(all, names...)
	slices.Sort(all)
	content, err := pins(slices.Compact(all))
	if err != nil {
		return err
	}
	if now, err := m.ReadFile(pinsFile); err == nil && string(now) == content {
		return nil
	}
	// CRI-O reads pins again on SIGHUP, which is what a reload sends; it does not stop anything.
	err = host.File{Path: pinsFile, Data: []byte(content), Perm: 0o644}.WriteFor(ctx, m, func(ctx context.Context) error {
		_, err := m.Run(ctx, "systemctl", "reload", crioUnit)
		return err
	})
	if err != nil {
		return fmt.Errorf("pinning the images: %w", err)
	}
	return nil
}

func pins(names []string) (string, error) {
	var doc crioConfig
	doc.Crio.Image.Pinned = names
	data, err := toml.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("writing the pinned images: %w", err)
	}
	return "# Written by Touchdown: the images of the seeded store, which the kubelet cannot remove.\n" + string(data), nil
}

// pinnedByOthers is what our file would hide: the key of the last file wins.
func pinnedByOthers(m *host.Machine) ([]string, error) {
	files, err := m.Glob(crioDropIns + "/*.conf")
	if err != nil {
		return nil, fmt.Errorf("listing CRI-O's configuration: %w", err)
	}
	slices.Sort(files)
	var pinned []string
	for _, file := range append([]string{rhcos.Crio}, files...) {
		if file == pinsFile {
			continue
		}
		names, err := pinnedIn(m, file)
		if err != nil {
			return nil, err
		}
		if names == nil {
			continue
		}
		if filepath.Base(file) > filepath.Base(pinsFile) && filepath.Dir(file) == crioDropIns {
			return nil, &problem.Problem{
				Code: "CTR-PNS", Summary: message.F("%s pins images and hides the pins of any other file.", file),
				Fix: message.F("Rename it so that it sorts before %s, then retry.", filepath.Base(pinsFile)),
			}
		}
		pinned = names
	}
	return pinned, nil
}

// pinnedIn is what one file of CRI-O's configuration pins; nil where it does not have the key, or is not there.
func pinnedIn(m *host.Machine, file string) ([]string, error) {
	data, err := m.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading CRI-O's configuration: %w", err)
	}
	var doc crioConfig
	if err := toml.Unmarshal(data, &doc); err != nil {
		return nil, &problem.Problem{
			Code: "CTR-TML", Summary: message.F("%s cannot be read as TOML.", file),
			Fix: message.T("CRI-O will not start with it either: fix the file or remove it, then retry."), Err: err,
		}
	}
	return doc.Crio.Image.Pinned, nil
}

// KeepPrimary lets CRI-O keep its own store after a loss of power. It takes effect when CRI-O starts the next time.
func KeepPrimary(m *host.Machine) error {
	if now, err := m.ReadFile(repairFile); err == nil && string(now) == repairOff {
		return nil
	}
	if err := m.WriteFile(repairFile, []byte(repairOff), 0o644); err != nil {
		return fmt.Errorf("letting CRI-O keep its images after a loss of power: %w", err)
	}
	return nil
}

// SavedConfig is what CRI-O's two drop-ins of Touchdown held at one time, for RestoreConfig.
func SavedConfig(m *host.Machine) ([]byte, error) {
	files := map[string]*string{}
	for _, name := range []string{pinsFile, repairFile} {
		data, err := m.ReadFile(name)
		switch text := string(data); {
		case err == nil:
			files[name] = &text
		case errors.Is(err, fs.ErrNotExist):
			files[name] = nil
		default:
			return nil, fmt.Errorf("reading CRI-O's configuration: %w", err)
		}
	}
	data, err := json.Marshal(files)
	if err != nil {
		return nil, fmt.Errorf("keeping CRI-O's configuration: %w", err)
	}
	return data, nil
}

// RestoreConfig puts the two drop-ins back, and lets CRI-O read its pins again. The other one counts when it starts the next
// time.
func RestoreConfig(ctx context.Context, m *host.Machine, saved []byte) error {
	now, err := SavedConfig(m)
	if err != nil || string(now) == string(saved) {
		return err
	}
	var files map[string]*string
	if err := json.Unmarshal(saved, &files); err != nil {
		return fmt.Errorf("reading CRI-O's earlier configuration: %w", err)
	}
	for _, name := range []string{pinsFile, repairFile} {
		if text := files[name]; text != nil {
			err = m.WriteFile(name, []byte(*text), 0o644)
		} else if err = m.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("putting CRI-O's configuration back: %w", err)
		}
	}
	if _, err := m.Run(ctx, "systemctl", "reload", crioUnit); err != nil {
		return fmt.Errorf("letting CRI-O read the pinned images: %w", err)
	}
	return nil
}
