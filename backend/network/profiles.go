package network

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"touchdown/backend/host"
)

// profiles are the files that NetworkManager keeps profiles in: on the disk, for the next boot, and in memory.
type profiles struct{ host *host.Machine }

func (n *Network) profiles() profiles { return profiles{n.host} }

// profileFiles are all profiles on the disk and in memory.
func (d profiles) profileFiles() ([]saved, error) {
	var files []saved
	for _, dir := range []string{keptDir, memoryDir} {
		folder := d.host.Folder(dir)
		names, err := folder.Names()
		if err != nil {
			return nil, fmt.Errorf("looking for profiles: %w", err)
		}
		for _, name := range names {
			if host.FileName(name) != nil {
				continue // another program's, which no setting of ours changes
			}
			data, err := folder.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("saving the network as it was: %w", err)
			}
			files = append(files, saved{folder.Path(name), data, values(string(data))["connection.uuid"]})
		}
	}
	return files, nil
}

// putKeptBack restores the profiles on the disk, as far as settings of this package changed them.
func (d profiles) putKeptBack(o *originals) (changed bool, err error) {
	kept := d.host.Folder(keptDir)
	for _, f := range o.Files {
		if path.Dir(f.Path) != keptDir {
			continue
		}
		if !strings.HasPrefix(path.Base(f.Path), prefix) && d.host.Exists(f.Path) && host.Managed(d.host, f.Path) {
			continue // what a MachineConfig lays by now; of files that are not ours, settings only remove some
		}
		did, err := putFileBack(kept, f)
		if err != nil {
			return changed, err
		}
		changed = changed || did
	}
	names, err := kept.Names()
	if err != nil {
		return changed, fmt.Errorf("looking for profiles: %w", err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) || o.file(kept.Path(name)) != nil {
			continue
		}
		if err := kept.Remove(name); err != nil {
			return changed, fmt.Errorf("removing a profile: %w", err)
		}
		changed = true
	}
	return changed, nil
}

// unwritten are the files of p that are not there, or not so.
func (d profiles) unwritten(p *Plan) (files []host.File) {
	for _, f := range p.files {
		if now, err := d.host.Folder(keptDir).ReadFile(f.Name); err != nil || string(now) != f.Text {
			files = append(files, host.File{Path: f.Name, Data: []byte(f.Text), Perm: 0o600})
		}
	}
	return files
}

// held is a file that p would write or remove and that the Machine Config Operator laid (host.Managed); "" is none.
func (d profiles) held(p *Plan) (string, error) {
	names, err := d.rivals(p)
	for _, f := range d.unwritten(p) {
		names = append(names, f.Path)
	}
	for _, name := range names {
		if file := d.host.Folder(keptDir).Path(name); host.Managed(d.host, file) {
			return file, err
		}
	}
	return "", err
}

// rivals are the kept profiles that are not p's and would compete with one of them for its port, those of a VLAN or bond that led out and
// goes, which the next boot would make again, and those of an earlier plan. All others are someone else's and stay: a profile is for a port only where it says so itself.
func (d profiles) rivals(p *Plan) ([]string, error) {
	ports, macs, names := map[string]bool{}, map[string]bool{}, []string{}
	for _, f := range p.files {
		ports[values(f.Text)["connection.interface-name"]] = true
		names = append(names, f.Name)
	}
	for _, name := range []string{p.Before.made.bond, p.Before.made.vlan} {
		if name != "" {
			ports[name] = true
		}
	}
	for mac, name := range p.Before.Macs {
		if ports[name] {
			macs[mac] = true
		}
	}
	kept := d.host.Folder(keptDir)
	all, err := kept.Names()
	if err != nil {
		return nil, fmt.Errorf("looking for profiles: %w", err)
	}
	var found []string
	for _, file := range all {
		if slices.Contains(names, file) {
			continue
		}
		text, err := kept.ReadFile(file)
		if err != nil {
			continue // gone, or of a name that is none of ours
		}
		v := values(string(text))
		// Of an earlier plan: it may have addresses on a VLAN or bond that this plan does not name. A port that was only
		// kept quiet goes on being that.
		quiet := v["connection.type"] == "ethernet" && v["ipv4.method"] == "disabled" && v["ipv6.method"] == "disabled"
		earlier := strings.HasPrefix(file, prefix) && !quiet
		if earlier || competes(v, ports, macs) {
			found = append(found, file)
		}
	}
	return found, nil
}

// putFileBack gives a profile its previous content. It tells whether that was another one.
func putFileBack(folder host.Folder, f saved) (changed bool, err error) {
	name := path.Base(f.Path)
	if now, err := folder.ReadFile(name); err == nil && string(now) == string(f.Data) {
		return false, nil
	}
	if err := folder.WriteFiles(host.File{Path: name, Data: f.Data, Perm: 0o600}); err != nil {
		return false, fmt.Errorf("putting a profile back: %w", err)
	}
	return true, nil
}
