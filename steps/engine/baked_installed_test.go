package engine

import (
	"strings"
	"testing"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/steps/view"
)

// TestAnInstalledSiteConfigLands: one that an installation medium brought starts nothing before the seal has named it; from then on it is as
// if it had been put in on the bench line, and its key is wiped with it.
func TestAnInstalledSiteConfigLands(t *testing.T) {
	r := newSealedRig(t)
	r.still.Store(time.Now().UnixNano())
	r.host.Boot()
	d, files, err := media.Installed{Config: []byte(strings.Replace(onStick, "shop", "baked", 1)), Serial: r.host.Serial(), Unattended: true}.Files()
	must(t, err)
	for path, data := range files {
		r.host.File(path, string(data))
	}
	const key = layout.Media + "/baked.key"
	r.open(t)
	until(t, r, "why not", noticed("FACTORY (in the node) starts nothing"))
	r.quiet(t)
	must(t, r.Close())
	must(t, media.StartOf(r.host.Machine, d.ID).Seal())
	r.host.Boot()
	r.open(t)
	until(t, r, "the countdown", tells(counting))
	if r.used(t, d.ID) || !r.host.Exists(key) {
		t.Errorf("used %t, key %t", r.used(t, d.ID), r.host.Exists(key))
	}
	r.pass()
	until(t, r, "the landing", inState(view.IsDone))
	if got := r.w.get("names"); got != "baked.stick.example" || !r.used(t, d.ID) || r.host.Exists(bakedDocument) || r.host.Exists(key) {
		t.Errorf("landed as %s, used %t, document %t, key %t", got, r.used(t, d.ID), r.host.Exists(bakedDocument), r.host.Exists(key))
	}
}
