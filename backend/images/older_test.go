package images

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// TestFilesOfAnEarlierRelease: a node is updated with the files that it has. Those of releases whose texts were English alone are read in
// full, and what they say is a technical detail in every other language.
func TestFilesOfAnEarlierRelease(t *testing.T) {
	detail := message.Verbatim
	at := time.Date(2026, time.November, 20, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, file, json string
		load             func(*host.Machine) (any, error)
		want             any
	}{
		{
			"status", layout.ImagesState + "/status.json", `{
  "looked": "2026-11-20T03:04:05Z", "boot": "boot-1", "generation": 3, "images": 61, "layers": 170, "bytes": 900, "mounted": true, "named": true,
  "listed": 60, "outside": 2, "unlisted": ["a:1"], "damage": ["overlay/x/diff/y: it is missing (no image)"],
  "unmended": ["there is nothing to repair it with"], "repaired": ["overlay/z"], "verified": "2026-11-20T03:04:05Z", "trouble": "CRI-O does not answer"
}`,
			func(m *host.Machine) (any, error) { return LoadStatus(m) },
			Status{
				Looked: at, Boot: "boot-1", Generation: 3, Images: 61, Layers: 170, Bytes: 900, Mounted: true, Named: true, Listed: 60, Outside: 2,
				Unlisted: []string{"a:1"}, Damage: []message.Text{detail("overlay/x/diff/y: it is missing (no image)")},
				Unrepaired: []message.Text{detail("there is nothing to repair it with")}, Repaired: []message.Text{detail("overlay/z")}, Verified: at,
				Trouble: detail("CRI-O does not answer"),
			},
		},
		{
			"move", layout.ImagesState + "/moved.json", `{"boot": "boot-2", "generation": 4, "images": 61, "layers": 170, "seconds": 2.5, "failed": "CRI-O has been started already"}`,
			func(m *host.Machine) (any, error) { return LoadMoved(m) },
			Moved{Boot: "boot-2", Generation: 4, Images: 61, Layers: 170, Seconds: 2.5, Failed: detail("CRI-O has been started already")},
		},
		{
			"move without a failure", layout.ImagesState + "/moved.json", `{"boot": "boot-2", "seconds": 2.5}`,
			func(m *host.Machine) (any, error) { return LoadMoved(m) },
			Moved{Boot: "boot-2", Seconds: 2.5},
		},
		{
			"rehearsal", layout.ImagesState + "/rehearsal.json", `{
  "phase": "over", "boot": "boot-3", "asked": "2026-11-20T03:04:05Z", "generation": 3, "needs": [{"image": "a:1", "by": ["plant/app"], "critical": true}],
  "pods": ["plant/app"], "missed": [{"image": "b:1", "by": ["plant/db"], "why": "ErrImagePull: manifest unknown"}],
  "notReady": ["plant/app: container app waits: ErrImagePull"], "market": ["certified-operators"], "tagged": ["own"], "seconds": 61.5, "finished": true,
  "blocked": ["registry.example"], "storeSeen": 61
}`,
			func(m *host.Machine) (any, error) { return LoadRehearsal(m) },
			Rehearsal{
				Phase: over, Boot: "boot-3", Asked: at, Generation: 3, Needs: []Need{{Image: "a:1", By: []string{"plant/app"}, Critical: true}},
				Pods: []string{"plant/app"}, Missed: []Need{{Image: "b:1", By: []string{"plant/db"}, Why: detail("ErrImagePull: manifest unknown")}},
				NotReady: []message.Text{detail("plant/app: container app waits: ErrImagePull")}, Market: []string{"certified-operators"}, Tagged: []string{"own"},
				Seconds: 61.5, Finished: true, Blocked: []string{"registry.example"}, StoreSeen: 61,
			},
		},
		{ // before it had its format, and without parts
			"shipped, format 0", layout.Shipped, `{"product": {"serial": "7XK2Q13"}, "cpu": {}, "memory": {}, "firmware": {}, "var": {}, "clock": {},
  "errors": {"disks": "reading the disks: the kernel shows none"}}`, shipped,
			[]string{"hw-shipped pass", "hw-shipped-unread skip Disks: not known at the factory; Memory modules and cards: not kept by the factory's older version of Touchdown"},
		},
		{
			"shipped, format 1", layout.Shipped, `{"format": 1, "product": {"serial": "7XK2Q13"}, "cpu": {}, "memory": {}, "firmware": {}, "var": {}, "clock": {},
  "errors": {"disks": "reading the disks: the kernel shows none", "modules": "reading the firmware's tables (SMBIOS): no such file or directory"}}`, shipped,
			[]string{"hw-shipped pass", "hw-shipped-unread skip Disks: not known at the factory; Memory modules: not known at the factory"},
		},
	} {
		m, _ := machine(t, map[string]string{c.file: c.json})
		if got, err := c.load(m); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v\n%+v, want\n%+v", c.name, err, got, c.want)
		}
	}
}

// shipped compares the machine with the file of its factory.
func shipped(m *host.Machine) (any, error) {
	now := &hardware.Inventory{}
	err := json.Unmarshal([]byte(`{"product": {"serial": "7XK2Q13"}, "disks": [{"name": "sda"}], "modules": [{"slot": "A1"}]}`), now)
	var all []string
	for _, c := range hardware.Shipped(m, now) {
		line := c.ID + " " + string(c.Status)
		if c.Status != check.Pass {
			line += " " + strings.TrimPrefix(c.Observed.String(), "not compared: ")
		}
		all = append(all, line)
	}
	return all, err
}
