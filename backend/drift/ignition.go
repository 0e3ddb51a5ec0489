package drift

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/coreos/ignition/v2/config/util"
	ignition "github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/ignition/v2/config/v3_5/types"
	"github.com/vincent-petithory/dataurl"

	"touchdown/backend/layout/rhcos"
)

const (
	usual   = fs.FileMode(0o644) // defaultFilePermissions of pkg/daemon
	largest = 4 << 20            // bytes of one file; all of a MachineConfig fit into 1.5 MiB of etcd, compressed
)

// file is what lies at a path, or has to.
type file struct {
	there bool
	odd   bool // it is not a regular file, or cannot be read
	data  []byte
	mode  fs.FileMode
}

// is tells whether two are the same to the daemon, which takes an empty file for one that has to be absent.
func (f file) is(other file) bool {
	if !f.there || !other.there {
		return !f.odd && !other.odd && len(f.data) == 0 && len(other.data) == 0
	}
	return f.mode == other.mode && bytes.Equal(f.data, other.data)
}

// files are those of a configuration whose content the daemon compares, by their paths.
type files map[string]file

// parse reads the Ignition config of a rendered MachineConfig: its files, units and drop-ins.
func parse(raw []byte) (files, error) {
	config, _, err := ignition.ParseCompatibleVersion(raw)
	if err != nil {
		return nil, fmt.Errorf("reading an Ignition config: %w", err)
	}
	all := files{}
	for _, f := range config.Storage.Files {
		data, err := decode(f.Contents)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", f.Path, err)
		}
		mode := usual
		if f.Mode != nil {
			mode = fs.FileMode(*f.Mode).Perm()
		}
		all[f.Path] = file{there: true, data: data, mode: mode}
	}
	for _, u := range config.Systemd.Units {
		for _, d := range u.Dropins {
			at := path.Join(rhcos.Units, u.Name+".d", d.Name)
			if all[at] = (file{}); d.Contents != nil && *d.Contents != "" { // an empty one has to be absent
				all[at] = file{there: true, data: []byte(*d.Contents), mode: usual}
			}
		}
		if u.Contents != nil && *u.Contents != "" && !util.IsTrue(u.Mask) {
			all[path.Join(rhcos.Units, u.Name)] = file{there: true, data: []byte(*u.Contents), mode: usual}
		}
	}
	return all, nil
}

func decode(r types.Resource) ([]byte, error) {
	if r.Source == nil {
		return nil, nil
	}
	u, err := dataurl.DecodeString(*r.Source)
	if err != nil {
		return nil, errors.New("its source is not a data URL") // err may quote it
	}
	if util.NilOrEmpty(r.Compression) {
		return u.Data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(u.Data))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(z, largest+1))
	if err == nil && len(data) > largest {
		err = fmt.Errorf("it is larger than %d MiB", largest>>20)
	}
	return data, err
}
