package nodeconfig

import (
	"context"
	"fmt"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// File is a file of the node that the Machine Config Operator lays because a MachineConfig of ours has it: all that a setting needs
// whose effect is one file.
type File struct {
	Name    string // of the setting, a DNS label; its MachineConfig is 99-master-touchdown-NAME
	Path    string // on the node
	Content string // the mode is 0644, so no secret belongs in it

	What, Old, New message.Text // for the review
}

// config is the name of the MachineConfig. It sorts behind those that installers give, as the last of a file's owners wins.
func (f File) config() string { return "99-master-touchdown-" + f.Name }

func (f File) object() object {
	ch := Change{
		What: f.What, Old: f.Old, New: f.New, File: f.Path,
		In: func(r Config) bool { return r.Files[f.Path] == f.Content },
	}
	return machineConfig(f.config(), ch, fileConfig(f.Path, f.Content))
}

// files lays the files of Want, each with a MachineConfig of ours. Another MachineConfig that has the file and sorts behind ours would
// win, so it is refused; one that sorts before stays, and ours wins. Two files with one name or one path are refused too.
func (w Want) files(ctx context.Context, c Reader) ([]Change, error) {
	var objects []object
	for i, f := range w.Files {
		for _, other := range w.Files[:i] {
			if f.Name == other.Name || f.Path == other.Path {
				return nil, fmt.Errorf("the files %s at %s (%s) and %s at %s (%s) exclude each other", other.Name, other.Path, other.What, f.Name, f.Path, f.What)
			}
		}
		owner, _, err := laid(ctx, c, f.Path, f.config())
		if err != nil {
			return nil, err
		}
		if owner > f.config() {
			return nil, &problem.Problem{
				Code:    "NCF-FRGN",
				Summary: message.F("The cluster's MachineConfig %s writes %s and wins over any other.", owner, f.Path),
				Fix:     message.T("Put the site's value into that MachineConfig, and leave it out of the site config."),
			}
		}
		objects = append(objects, f.object())
	}
	return compared(ctx, c, objects...)
}
