package media

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Put adds files to a stick, whatever else is on it: to the volume whose device has a name ("sdb1"), or, without a name, to the only one that
// can be written to; where there are several, to the only one with a site config. make is called once the stick is known. It works as
// Leave does otherwise, and fails with a *problem.Problem: MED-LACK without one that can be written to, MED-MANY where the choice is a person's.
func (w *Watcher) Put(ctx context.Context, name string, make func() ([]volume.File, error)) (*Left, error) {
	if w.Waiting() {
		return nil, silent()
	}
	to, err := w.stick(ctx, name)
	if err != nil {
		return nil, err
	}
	files, err := make()
	if err != nil {
		return nil, err
	}
	fit := volume.Fitting(files)
	if len(fit) < len(files) {
		return nil, volume.TooLarge()
	}
	return w.leaveWithin(ctx, leaveTime, func() (*Left, error) {
		device, err := os.OpenFile(to.path, os.O_RDWR|unix.O_EXCL|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, closed(err)
		}
		defer device.Close()
		if err := w.known.mayWrite(device); err != nil {
			return nil, err
		}
		content, _, err := inspect(ctx, device, readerTime, nil)
		if err != nil {
			return nil, err
		}
		names, err := w.known.write(ctx, device, orderFor(nil, fit))
		if err != nil {
			return nil, err
		}
		return &Left{Medium: (&Medium{Device: to.Device, Label: content.Label}).Name(), Files: names}, nil
	})
}

// stick chooses the volume for Put.
func (w *Watcher) stick(ctx context.Context, name string) (*Medium, error) {
	all, err := devices(w.known.machine)
	if err != nil {
		return nil, err
	}
	var found, site []*Medium
	var refused error
	w.each(all, func(d device, within time.Duration) int64 {
		if name != "" && name != d.name {
			return 0
		}
		content, bytes, err := inspectAt(ctx, d.path, within, nil)
		switch {
		case err != nil && problem.From(err).Code != "MED-BLNK":
			refused = err
		case err == nil && content.Kind != volume.FAT:
			refused = volume.ReadOnly(content.Kind)
		case err == nil && inUse(d.path) != nil: // as the start-up partition of an internal stick
			refused = closed(inUse(d.path))
		case err == nil:
			m := &Medium{Device: d.name, Label: content.Label, path: d.path, kind: content.Kind}
			found = append(found, m)
			if content.Find(EnvelopeFile) != nil {
				site = append(site, m)
			}
		}
		return bytes
	}, func(string, int) {})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case len(found) == 1:
		return found[0], nil
	case len(site) == 1:
		return site[0], nil
	case len(found) > 1:
		return nil, several(found)
	}
	return nil, &problem.Problem{
		Code: "MED-LACK", Summary: message.T("There is no stick in the machine that can be written to."),
		Fix: message.T("Put in a stick with FAT (vfat), and try again."), Err: refused,
	}
}

// inUse tells why a device cannot be had alone; nil: it can.
func inUse(path string) error {
	device, err := os.OpenFile(path, os.O_RDONLY|unix.O_EXCL|unix.O_NONBLOCK, 0)
	if err == nil {
		err = device.Close()
	}
	if err != nil {
		return fmt.Errorf("opening %s alone: %w", path, err)
	}
	return nil
}

func several(found []*Medium) error {
	var names []string
	for _, m := range found {
		names = append(names, m.Name())
	}
	slices.Sort(names)
	return &problem.Problem{
		Code: "MED-MANY", Summary: message.F("There are several volumes that can be written to: %s.", strings.Join(names, ", ")),
		Fix: message.T("Leave one stick in, or name the volume: touchdown report bundle --stick=NAME."),
	}
}
