// Package iso reads and fills the areas that a live image of RHCOS or Fedora CoreOS has for an Ignition config, network keyfiles
// and kernel arguments. It writes these areas only: all other bytes of the image stay what they are.
//
// Where the areas lie and what is in them is what coreos-installer 0.27.0 reads and writes (src/live/embed.rs, src/io/initrd.rs,
// src/live/customize.rs), and 0.7.0 for images that have a header only (src/live.rs).
package iso

import (
	"io"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// The ways in which images say where the area of the Ignition config lies, the oldest first. The dates are those of the images
// in coreos-installer's fixtures/iso/INDEX.
const (
	ByHeader = "header"  // "coreiso+" at the end of the system area; 2020-09 to 2021-12
	ByName   = "file"    // images/ignition.img; 2022
	ByInfo   = "igninfo" // coreos/igninfo.json; since 2023-03
)

// Area is a part of the image that may be written.
type Area struct {
	File   string `json:"file"`   // of the image, in which it lies
	Offset int64  `json:"offset"` // in the image, in bytes
	Length int64  `json:"length"` // bytes
	Used   int64  `json:"used"`   // bytes, up to the last one that is not padding
}

// File is a file of the archive in the area of the Ignition config.
type File struct {
	Path string `json:"path"` // without a slash at its beginning
	Data []byte `json:"data,omitempty"`
}

// Image is a live image as it was read.
type Image struct {
	Label      string `json:"label"`
	Generation string `json:"generation"`      // ByHeader, ByName or ByInfo
	Keyfiles   bool   `json:"takesKeyfiles"`   // whether the live system reads network keyfiles
	Ignition   Area   `json:"ignition"`        // holds Files
	Files      []File `json:"-"`               // what is embedded, in the order of the archive
	Kargs      *Kargs `json:"kargs,omitempty"` // nil for an image whose kernel arguments cannot be changed
	Half       string `json:"half,omitempty"`  // "", or why the areas are not whole: their writer was interrupted, or they are damaged
	size       int64  // of the image, in bytes
}

// Paths in the archive.
const (
	ignitionPath = "config.ign"
	keyfileDir   = "etc/coreos-firstboot-network/" // coreos-installer 0.27.0, src/io/initrd.rs, INITRD_NETWORK_DIR
)

// Read reads the areas of an image of size bytes. It fails with a *problem.Problem for what is not a live image, for one that is cut
// off, and for areas that lie where none can. Areas with a content that makes no sense are not a failure, see Half: they can be filled again.
func Read(from io.ReaderAt, size int64) (*Image, error) {
	v, err := open(from, size)
	if err != nil {
		return nil, err
	}
	image := &Image{Label: v.Label, size: size}
	if err := image.findIgnition(v); err != nil {
		return nil, err
	}
	if err := image.findKargs(v); err != nil {
		return nil, err
	}
	if err := image.apart(v); err != nil {
		return nil, err
	}
	if err := image.readFeatures(v); err != nil {
		return nil, err
	}
	area, err := v.bytes(image.Ignition)
	if err != nil {
		return nil, err
	}
	image.Ignition.Used = used(area, 0)
	if image.Files, err = unpack(area); err != nil {
		image.Files, image.Half = nil, err.Error()
	}
	if image.Kargs != nil && image.Half == "" {
		image.Half = image.Kargs.half
	}
	return image, nil
}

// Config returns the Ignition config that is embedded; nil where there is none.
func (i *Image) Config() []byte {
	for _, f := range i.Files {
		if f.Path == ignitionPath {
			return f.Data
		}
	}
	return nil
}

// used is the number of bytes up to the last one that is not padding.
func used(area []byte, pad byte) int64 {
	n := len(area)
	for n > 0 && area[n-1] == pad {
		n--
	}
	return int64(n)
}

func refuse(code string, summary, fix message.Text, cause error) error {
	return &problem.Problem{Code: code, Summary: summary, Fix: fix, Err: cause}
}

// unknown is the error for what is not a live image.
func unknown(cause error) error {
	return refuse("LVE-KND", message.T("The file is not a live image of RHCOS or Fedora CoreOS."), message.T("Name the live ISO of the OpenShift release, as it was downloaded."), cause)
}

// damaged is the error for an image that contradicts itself.
func damaged(cause error) error {
	return refuse("LVE-BAD", message.T("The image is damaged, or was made to look like a live image. Nothing was written."), message.T("Download it again, and compare its SHA-256 sum with the published one."), cause)
}
