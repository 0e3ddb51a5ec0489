package media

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Volume is a volume on a disk that can be pulled out, as a person chooses a file from it. What its files hold was not read.
type Volume struct {
	ID      string // of this volume until it is pulled out
	Device  string // "sdb1"
	Name    string // as Medium.Name tells it
	Files   []File
	More    bool             // it has more files than are listed
	Refused *problem.Problem // why it is not read; nil when it is
}

// File is a file of a volume.
type File struct {
	Path  string // from the root, with slashes
	Bytes int64
}

// Has tells whether it has all of these files in its root folder.
func (v *Volume) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(v.Files, func(f File) bool { return strings.EqualFold(f.Path, name) })
	})
}

// Volumes lists the files in the machine's sockets, by the devices. A volume that cannot be read is among them, with the reason; an
// empty drive, and a disk whose partitions are listed, is not.
func (w *Watcher) Volumes(ctx context.Context) ([]Volume, error) {
	all, err := devices(w.known.machine)
	if err != nil {
		return nil, err
	}
	var found []Volume
	w.each(all, func(d device, within time.Duration) int64 {
		content, bytes, err := inspectAt(ctx, d.path, within, nil)
		v := Volume{ID: d.is, Device: d.name, Name: d.name}
		if err != nil {
			v.Refused = problem.From(err)
			whole := d.name == d.disk && slices.ContainsFunc(all, func(o device) bool { return o.disk == d.disk && o.name != d.name })
			if v.Refused.Code == "MED-BLNK" || whole && v.Refused.Code == "MED-KND" {
				return bytes
			}
		} else {
			v.list(content)
		}
		found = append(found, v)
		return bytes
	}, func(disk string, volumes int) {
		found = append(found, Volume{Name: disk, Refused: unreadOf(disk, volumes).Refused})
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return found, nil
}

// list takes over what a volume holds.
func (v *Volume) list(content *volume.Content) {
	v.Name = (&Medium{Device: v.Name, Label: content.Label}).Name()
	v.More = content.More
	for _, e := range content.Entries {
		if !e.Folder {
			v.Files = append(v.Files, File{e.Path, e.Size})
		}
	}
	slices.SortStableFunc(v.Files, func(a, b File) int { return strings.Compare(strings.ToLower(a.Path), strings.ToLower(b.Path)) })
}

// ReadFile reads a file of a volume that Volumes listed, and tells which volume it lies on: its label, or its device. It fails with a
// *problem.Problem, which has nothing of the file in it.
func (w *Watcher) ReadFile(ctx context.Context, id, path string) (data []byte, on string, err error) {
	all, on, err := w.ReadFiles(ctx, id, path)
	if err != nil {
		return nil, "", err
	}
	return all[0], on, nil
}

// ReadFiles reads several files of one volume, as ReadFile does.
func (w *Watcher) ReadFiles(ctx context.Context, id string, paths ...string) (data [][]byte, on string, err error) {
	from, err := w.socket(id)
	if err != nil {
		return nil, "", err
	}
	// The paths come from a console: what is not on the list of files is not found, whatever it looks like.
	content, _, err := inspectAt(ctx, from.path, w.Limits.Time, wants(paths))
	if err != nil {
		return nil, "", err
	}
	for _, path := range paths {
		e := content.Find(path)
		switch {
		case e == nil:
			return nil, "", gone(fmt.Errorf("there is no file %q", path))
		case e.Size == 0 || int64(len(e.Data)) != e.Size:
			return nil, "", &problem.Problem{Code: "MED-MPTY", Summary: message.F("The file %s is empty.", path), Fix: message.T("Check that it is the right file.")}
		}
		data = append(data, e.Data)
	}
	return data, cmp.Or(content.Label, from.name), nil
}

// socket is the device of a volume that Volumes listed.
func (w *Watcher) socket(id string) (device, error) {
	all, err := devices(w.known.machine)
	if err != nil {
		return device{}, err
	}
	i := slices.IndexFunc(all, func(d device) bool { return d.is == id })
	if i < 0 {
		return device{}, gone(errors.New("its volume is no longer there"))
	}
	return all[i], nil
}

// gone is the problem of a file that was listed and is no longer there.
func gone(err error) error {
	return &problem.Problem{
		Code: "MED-AWAY", Summary: message.T("The file that was chosen is no longer there."), Fix: message.T("Put the medium in again, and choose the file from a new list."), Err: err,
	}
}
