// Package images keeps the images that a node needs in a store that no registry, no garbage collection and no loss of power
// takes away: it seeds, verifies, activates, checks after each boot, and rehearses a start with nothing else.
//
// Packages below it, which commands, steps and consoles do not import: store reads and copies one container store, layerstore holds
// the seeded layers and their generations, cri speaks with CRI-O, wanted lists what must be there, ref reads their names, remote
// asks registries, and auth has the credentials for them.
package images

import (
	"path/filepath"

	"touchdown/backend/host"
	"touchdown/backend/images/store"
	"touchdown/backend/images/wanted"
	"touchdown/backend/layout"
)

// Where things lie on the node. Below /var/lib/shared the SELinux policy gives a type that CRI-O may read: that of
// read-only container files (container-selinux, container.fc, since 2.213), so no relabelling takes the store away.
const (
	Primary  = "/var/lib/containers/storage"       // CRI-O's own store
	StoreDir = "/var/lib/shared/.touchdown"        // written by Touchdown only
	Mount    = "/var/lib/shared/touchdown"         // the same folder, read-only
	Store    = "/var/lib/shared/touchdown/current" // what storage.conf names
)

// The values of those packages that a caller has to name.
type (
	Wanted = wanted.Result // the list of images that the node needs
	Image  = wanted.Image  // one of them
	Damage = store.Damage  // one thing in a store that is not as it must be; Status has its text
)

// Units that bring the store into place at a boot.
const (
	mountUnit = "var-lib-shared-touchdown.mount"
	crioUnit  = "crio.service"
)

func state(name string) string { return filepath.Join(layout.ImagesState, name) }

// seeded tells whether a store was ever seeded.
func seeded(m *host.Machine) bool { return m.Exists(StoreDir + "/current/manifest.json") }
