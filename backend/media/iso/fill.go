package iso

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Content is what an image gets. It takes the place of all that was embedded before, and the kernel arguments start from the
// image's own: to fill an image twice is the same as to fill it once.
type Content struct {
	Ignition []byte // the config of the live system, nil for none; CheckConfig says whether it is one
	Keyfiles []File // of NetworkManager, by their names without a folder
	Kargs    Edits
}

// Filling is what has to be written into an image, and nothing else of it.
type Filling struct {
	ignition patch   // written first and last, see write
	kargs    []patch // none where the image has no areas for them
	size     int64   // of the image that it was made for, in bytes
}

// patch is the whole content of an area.
type patch struct {
	offset int64
	data   []byte
}

// Fill makes the content of the areas. Nothing is written yet: all that can be refused is refused here. An image that was filled
// before, or whose areas are not whole, needs force.
func (i *Image) Fill(c Content, force bool) (*Filling, error) {
	if err := i.refuseFull(force); err != nil {
		return nil, err
	}
	files, err := i.archive(c)
	if err != nil {
		return nil, err
	}
	packed, err := pack(files)
	if err != nil {
		return nil, err
	}
	if room := i.Ignition.Length; int64(len(packed)) > room {
		return nil, &problem.Problem{
			Code: "LVE-SPCE", Summary: message.F("Ignition config and keyfiles have %d bytes when compressed, and the image has room for %d.", len(packed), room),
			Fix: message.T("Let the config name large files by URL, with verification.hash, instead of containing them. A site config can come on a stick instead."),
		}
	}
	if _, err := unpack(packed); err != nil { // as what Read could not read would be taken for half written
		return nil, fmt.Errorf("reading back what would be written: %w", err)
	}
	f := &Filling{ignition: patch{i.Ignition.Offset, make([]byte, i.Ignition.Length)}, size: i.size}
	copy(f.ignition.data, packed)
	f.kargs, err = i.kargPatches(c.Kargs)
	return f, err
}

const anotherImage = "Take the image as it was downloaded, or replace everything that is embedded with --force."

// Whole returns an error for an image whose areas are not whole, see Half.
func (i *Image) Whole() error {
	if i.Half == "" {
		return nil
	}
	return &problem.Problem{
		Code: "LVE-HALF", Summary: message.T("The image is half written: what is embedded in it is not complete."),
		Fix: message.T(anotherImage), Err: errors.New(i.Half),
	}
}

// refuseFull refuses to overwrite what someone embedded.
func (i *Image) refuseFull(force bool) error {
	if force {
		return nil
	}
	if err := i.Whole(); err != nil {
		return err
	}
	switch {
	case len(i.Files) > 0:
		names := make([]string, 0, 3)
		for _, f := range i.Files[:min(len(i.Files), 3)] {
			names = append(names, f.Path)
		}
		return &problem.Problem{Code: "LVE-FULL", Summary: message.F("The image is filled already: it has %s.", strings.Join(names, ", ")), Fix: message.T(anotherImage)}
	case i.Ignition.Used > 0: // such as folders
		return &problem.Problem{Code: "LVE-FULL", Summary: message.F("The image is filled already: its Ignition area has %d bytes.", i.Ignition.Used), Fix: message.T(anotherImage)}
	case i.Kargs != nil && i.Kargs.Args != i.Kargs.Default:
		return &problem.Problem{Code: "LVE-FULL", Summary: message.F("The image is filled already: its kernel arguments are %s.", ShownArgs(i.Kargs.Args)), Fix: message.T(anotherImage)}
	}
	return nil
}

// archive is the list of files to embed, sorted by their paths, as coreos-installer has them.
func (i *Image) archive(c Content) ([]File, error) {
	var files []File
	if c.Ignition != nil {
		files = append(files, File{ignitionPath, c.Ignition})
	}
	if len(c.Keyfiles) > 0 && !i.Keyfiles {
		return nil, &problem.Problem{
			Code: "LVE-NET", Summary: message.T("The live system of this image does not read network keyfiles."),
			Fix: message.T("Use a newer image, or set the network with kernel arguments (ip=, nameserver=)."),
		}
	}
	for _, k := range c.Keyfiles {
		if err := checkKeyfile(k); err != nil {
			return nil, &problem.Problem{Code: "LVE-NET", Summary: message.F("%q is not a NetworkManager keyfile.", k.Path), Fix: message.T("Name a file that ends with .nmconnection and has a section [connection]."), Err: err}
		}
		name := keyfileDir + k.Path
		if slices.ContainsFunc(files, func(f File) bool { return f.Path == name }) {
			return nil, &problem.Problem{Code: "LVE-NET", Summary: message.F("Two keyfiles have the name %s.", k.Path), Fix: message.T("Rename one of them.")}
		}
		files = append(files, File{name, k.Data})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func checkKeyfile(k File) error {
	if err := host.FileName(k.Path); err != nil {
		return fmt.Errorf("its name: %w", err)
	}
	if strings.HasPrefix(k.Path, ".") { // NetworkManager ignores such files (nm_keyfile_utils_ignore_filename)
		return errors.New("its name begins with a dot")
	}
	if path.Ext(k.Path) != ".nmconnection" { // NetworkManager leaves other files alone (man NetworkManager.conf, plugin keyfile)
		return errors.New("its name does not end with .nmconnection")
	}
	if !utf8.Valid(k.Data) || !slices.Contains(strings.Fields(string(k.Data)), "[connection]") {
		return errors.New("it has no section [connection]")
	}
	return nil
}

// kargPatches are the areas of the kernel arguments. They are written where nothing is asked for, too: an image that was filled before
// gets its own arguments back.
func (i *Image) kargPatches(e Edits) ([]patch, error) {
	if i.Kargs == nil {
		if len(e.Append)+len(e.Delete)+len(e.Replace) > 0 {
			return nil, &problem.Problem{Code: "LVE-ARGS", Summary: message.T("The kernel arguments of this image cannot be changed: the image is too old."), Fix: message.T("Use a newer image.")}
		}
		return nil, nil
	}
	args, err := e.apply(i.Kargs.Default)
	if err != nil {
		return nil, err
	}
	var patches []patch
	for n, a := range i.Kargs.Areas {
		if int64(len(args)) >= a.Length {
			return nil, &problem.Problem{
				Code: "LVE-SPCE", Summary: message.F("The kernel arguments have %d bytes, and the image has room for %d.", len(args), a.Length-1),
				Fix: message.T("Leave some out; network settings can be keyfiles instead."),
			}
		}
		patches = append(patches, patch{a.Offset, i.Kargs.pads[n].fill(args, a.Length)})
	}
	return patches, nil
}
