package main

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/update"
	"touchdown/steps/updates"
)

// fromStick reads the release on the stick in the machine, or on the volume whose device has a name ("sdb1").
func (u *updating) fromStick(ctx context.Context, name string, keys update.Keys) (*update.Release, error) {
	w := media.NewWatcher(u.machine)
	v, err := releaseOn(ctx, w, name)
	if err != nil {
		return nil, err
	}
	u.say("There is a release on %s.", v.Name)
	return updates.Read(ctx, w, *v, keys)
}

// releaseOn is the only volume with the files of a release, of those whose device has the name, if there is one.
func releaseOn(ctx context.Context, w *media.Watcher, name string) (*media.Volume, error) {
	all, err := w.Volumes(ctx)
	if err != nil {
		return nil, err
	}
	var found []media.Volume
	var why error
	for _, v := range all {
		switch {
		case name != "" && v.Device != name:
		case v.Refused != nil:
			why = v.Refused
		case v.Has(update.Files()...):
			found = append(found, v)
		}
	}
	if len(found) > 0 {
		return updates.One(found)
	}
	return nil, &problem.Problem{
		Code: "UPD-NREL", Summary: message.T("There is no release on a stick in this machine."),
		Fix: message.F("Put in a stick that `touchdown media write --release FOLDER` made, or one with FAT (vfat) that has %s in its first folder.", strings.Join(update.Files(), ", ")), Err: why,
	}
}

// writeRelease makes the medium of the release in a folder: an ISO9660 image, because a program is larger than what else media have.
func (f *mediaFlags) writeRelease(cmd *cobra.Command, target string) (string, error) {
	said, order := "on a node: touchdown update --from-stick", map[string][]byte{}
	if f.unattended {
		o, signed, err := f.order(cmd)
		if err != nil {
			return "", err
		}
		order[update.OrderFile] = signed
		said = fmt.Sprintf("order %s installs %s on %d nodes with nobody there, when the stick is in", o.ID, o.Version, len(o.Serials))
	}
	files, err := update.Unsigned(f.release)
	if err != nil {
		return "", notThere(err)
	}
	maps.Copy(files, order)
	image, err := media.MakeRelease(files)
	if err != nil {
		return "", usage(err)
	}
	if err := media.WriteTo(target, image, media.Allow{Content: f.force, FixedDisk: f.fixedDisk}); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: the release in %s; %s\n", target, f.release, said), nil
}
