package iso

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_5/types"
	"github.com/vincent-petithory/dataurl"
)

// layBelow is the folder that every system has, in which the folders of what is laid are for root alone. Ignition makes those that are
// missing for everyone to read.
const layBelow = "/var/lib"

// target returns the config of the installed system with the files that it gets beside.
func (in Install) target() ([]byte, error) {
	if len(in.Lay) == 0 {
		return in.Ignition, nil
	}
	if err := installed.replaced(in.Ignition); err != nil {
		return nil, err
	}
	whole, err := decode(in.Ignition)
	if err != nil {
		return nil, err
	}
	files, folders, made := list(whole, "storage", "files"), list(whole, "storage", "directories"), []string{}
	for _, name := range slices.Sorted(maps.Keys(in.Lay)) {
		if path.Clean(name) != name || !strings.HasPrefix(name, layBelow+"/") {
			return nil, fmt.Errorf("%s is not below %s", name, layBelow)
		}
		for dir := path.Dir(name); dir != layBelow && !slices.Contains(made, dir); dir = path.Dir(dir) {
			made = append(made, dir)
			folders = append(folders, object{"path": dir, "mode": 0o700})
		}
		files = append(files, inline(name, in.Lay[name]))
	}
	put(whole, files, "storage", "files")
	put(whole, folders, "storage", "directories")
	if err := installed.once(slices.Concat(files, folders, list(whole, "storage", "links")), "path"); err != nil {
		return nil, err
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("writing the Ignition config of the installed system: %w", err)
	}
	return text, CheckConfig(text)
}

// InstalledFiles are the files that the config of the live system has for the system that it installs, by their paths, those of Ignition that
// are fetched aside; none where it installs nothing.
func InstalledFiles(config []byte) (map[string][]byte, error) {
	c, err := parse(config)
	if err != nil || installation(c) == nil {
		return nil, err
	}
	for _, f := range c.Storage.Files {
		if f.Path != installTarget {
			continue
		}
		target, err := parse(content(f))
		if err != nil {
			return nil, err
		}
		files := map[string][]byte{}
		for _, f := range target.Storage.Files {
			if data := content(f); data != nil {
				files[f.Path] = data
			}
		}
		return files, nil
	}
	return nil, nil
}

// content is what a config has in itself for a file; nil for one that is fetched, or compressed, as no config of ours is.
func content(f types.File) []byte {
	if f.Contents.Source == nil || !util.NilOrEmpty(f.Contents.Compression) {
		return nil
	}
	u, err := dataurl.DecodeString(*f.Contents.Source)
	if err != nil {
		return nil
	}
	return u.Data
}
