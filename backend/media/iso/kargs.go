package iso

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Kargs are the kernel arguments of the live system. They stand in every configuration of a boot loader that the image has.
type Kargs struct {
	Default string `json:"default"` // as the image came
	Args    string `json:"args"`    // as they are; "" where the areas differ
	Areas   []Area `json:"areas"`   // all hold the same
	pads    []padding
	half    string
}

// padding is what follows the arguments in an area: one end, and pads up to the length of the area.
type padding struct{ pad, end byte }

const (
	maxKargs = 2048 // bytes of an area: coreos-installer refuses larger ones (COREOS_KARG_EMBED_AREA_MAX_SIZE)
	// maxKargAreas is what the header of old images has room for; newer ones have had two.
	maxKargAreas = 6
)

// findKargs finds the areas of the kernel arguments, and reads them.
func (i *Image) findKargs(v *opened) error {
	k, err := v.kargsByInfo()
	if err == nil && k == nil {
		k, err = v.kargsByHeader()
	}
	if err != nil || k == nil {
		return err
	}
	if len(k.Areas) == 0 || len(k.Areas) > maxKargAreas {
		return damaged(fmt.Errorf("it has %d areas for kernel arguments", len(k.Areas)))
	}
	for n := range k.Areas {
		a := &k.Areas[n]
		b, err := v.bytes(*a)
		if err != nil {
			return err
		}
		a.Used = used(b, k.pads[n].pad)
		args, err := k.pads[n].parse(b)
		switch {
		case err != nil:
			k.half = fmt.Sprintf("the kernel arguments at %d are not text", a.Offset)
		case n > 0 && k.half == "" && args != k.Args:
			k.half = fmt.Sprintf("the kernel arguments at %d and at %d differ", k.Areas[0].Offset, a.Offset)
		}
		k.Args = args
	}
	if k.half != "" {
		k.Args = ""
	}
	i.Kargs = k
	return nil
}

// kargsByInfo reads coreos/kargs.json; nil where the image has none.
func (v *opened) kargsByInfo() (*Kargs, error) {
	var info struct {
		Default string `json:"default"`
		Size    int64  `json:"size"`
		Files   []struct {
			Path     string `json:"path"`
			Offset   int64  `json:"offset"` // in the file
			Pad, End *string
		} `json:"files"`
	}
	found, err := v.document(kargsFile, &info)
	if err != nil || !found {
		return nil, err
	}
	if info.Size <= 0 || info.Size > maxKargs || int64(len(info.Default)) >= info.Size {
		return nil, damaged(fmt.Errorf("%s: %d bytes for kernel arguments, of which %d are taken", kargsFile, info.Size, len(info.Default)))
	}
	k := &Kargs{Default: strings.TrimSpace(info.Default)}
	for _, f := range info.Files {
		e := v.file(f.Path)
		if e == nil || f.Offset < 0 || f.Offset > e.Size {
			return nil, damaged(fmt.Errorf("%s: %.100q has no byte %d", kargsFile, f.Path, f.Offset))
		}
		p := padding{'#', '\n'}
		for value, into := range map[*string]*byte{f.Pad: &p.pad, f.End: &p.end} {
			if value == nil {
				continue
			}
			if len(*value) != 1 {
				return nil, damaged(fmt.Errorf("%s: %.20q is not one byte", kargsFile, *value))
			}
			*into = (*value)[0]
		}
		k.Areas = append(k.Areas, Area{File: e.Path, Offset: e.Start + f.Offset, Length: info.Size})
		k.pads = append(k.pads, p)
	}
	return k, nil
}

// kargsByHeader reads the header of old images: 72 bytes before that of the Ignition area, with the length of the areas, the place of
// the default, and up to six places of areas.
func (v *opened) kargsByHeader() (*Kargs, error) {
	numbers, err := v.header(8+8*8, 8+2*8, "coreKarg")
	if err != nil || numbers == nil {
		return nil, err
	}
	for n, number := range numbers {
		if number > math.MaxInt64 || n == 0 && (number == 0 || number > maxKargs) {
			return nil, damaged(fmt.Errorf("the header of the kernel arguments has the number %d", number))
		}
	}
	length := int64(numbers[0])
	b, err := v.bytes(Area{Offset: int64(numbers[1]), Length: length})
	if err != nil {
		return nil, err
	}
	k := &Kargs{}
	if k.Default, err = (padding{'#', '\n'}).parse(b); err != nil {
		return nil, damaged(fmt.Errorf("the default kernel arguments: %w", err))
	}
	for _, offset := range numbers[2:] {
		if offset == 0 {
			break
		}
		k.Areas = append(k.Areas, Area{Offset: int64(offset), Length: length})
		k.pads = append(k.pads, padding{'#', '\n'})
	}
	return k, nil
}

func (p padding) parse(area []byte) (string, error) {
	text := strings.TrimRight(string(area), string(rune(p.pad)))
	text = strings.TrimSpace(strings.TrimRight(text, string(rune(p.end))))
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", errors.New("not a line of ASCII text")
	}
	return text, nil
}

// fill is the content of an area with other arguments, which have to be shorter than the area.
func (p padding) fill(args string, length int64) []byte {
	b := []byte(strings.Repeat(string(rune(p.pad)), int(length)))
	b[copy(b, args)] = p.end
	return b
}

// Edits are changes of the kernel arguments, made to the default ones.
type Edits struct {
	Append  []string // such as "console=ttyS0,115200n8"
	Delete  []string // whole arguments
	Replace []string // KEY=OLD=NEW
}

// apply returns the arguments with the edits, in coreos-installer's order: delete, append, replace (src/io/bls.rs, apply_to). Unlike it,
// an edit of what is not there is an error.
func (e Edits) apply(args string) (string, error) {
	if len(e.Append)+len(e.Delete)+len(e.Replace) == 0 {
		return args, nil // with the spaces that it has, or the image would seem to be filled
	}
	all := strings.Fields(args)
	for _, d := range e.Delete {
		n := slices.Index(all, d)
		if n < 0 {
			return "", absent(d, args)
		}
		all = slices.DeleteFunc(all, func(a string) bool { return a == d })
	}
	for _, a := range e.Append {
		if err := plain(a); err != nil {
			return "", err
		}
		all = append(all, a)
	}
	for _, r := range e.Replace {
		parts := strings.Split(r, "=")
		if len(parts) != 3 || slices.Contains(parts, "") {
			return "", &problem.Problem{Code: "LVE-ARGS", Summary: message.F("%q is not KEY=OLD=NEW.", shownArg(r)), Fix: message.T("Delete the argument and append another one.")}
		}
		before, after := parts[0]+"="+parts[1], parts[0]+"="+parts[2]
		if err := plain(after); err != nil {
			return "", err
		}
		n := slices.Index(all, before)
		if n < 0 {
			return "", absent(before, args)
		}
		for ; n >= 0; n = slices.Index(all, before) {
			all[n] = after
			if after == before {
				break
			}
		}
	}
	return strings.Join(all, " "), nil
}

// plain refuses what is more than one argument, and what GRUB's shell would interpret (its manual, "Shell-like scripting"):
// the line that holds the arguments would say something else.
func plain(arg string) error {
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("{}|&$;<>\"'\\#`", r) }) {
		return nil
	}
	return &problem.Problem{
		Code: "LVE-ARGS", Summary: message.F("%q cannot be a kernel argument here.", shownArg(arg)),
		Fix: message.T("Give each argument on its own, in ASCII, without spaces, quotes and the characters {}|&$;<>#, which the boot loader would not pass on."),
	}
}

func absent(arg, args string) error {
	return &problem.Problem{
		Code: "LVE-ARGS", Summary: message.F("The image has no kernel argument %q.", shownArg(arg)),
		Fix: message.F("Name one that it has: %s.", ShownArgs(args)),
	}
}

var (
	oneArg   = regexp.MustCompile(`\S+`)
	urlInArg = regexp.MustCompile(`(?s)[A-Za-z][A-Za-z0-9+.-]*://.*`) // to its end: a password can have any character
)

// ShownArgs are kernel arguments without what may be secret in their URLs, such as that of coreos.inst.ignition_url.
func ShownArgs(args string) string { return oneArg.ReplaceAllStringFunc(args, shownArg) }

func shownArg(arg string) string {
	return urlInArg.ReplaceAllStringFunc(arg, func(text string) string {
		if strings.Count(text, "://") > 1 { // where the first one ends cannot be told
			return "(URLs)"
		}
		return source(&text)
	})
}
