package kernel

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"touchdown/test/wait"
)

// usb is what QEMU calls the guest's USB ports.
const usb = "usb"

// Unplug pulls a port's cable, Plug puts it back.
func (g *Guest) Unplug(port int) error { return g.cable(port, false) }

// Plug puts a cable back that was pulled.
func (g *Guest) Plug(port int) error { return g.cable(port, true) }

func (g *Guest) cable(port int, in bool) error {
	return g.order(order{"set_link", values{"name": fmt.Sprintf("port%d", port), "up": in}})
}

// Insert puts a USB stick into the guest, whose content is a file. The guest's kernel needs the module xhci_pci. A name is for one time: QEMU
// holds the file to its end, so that it must not lock it either.
func (g *Guest) Insert(stick, image string) error {
	return g.order(
		order{"blockdev-add", values{"driver": "raw", "node-name": stick, "file": values{"driver": "file", "filename": image, "locking": "off"}}},
		order{"device_add", values{"driver": "usb-storage", "bus": usb + ".0", "drive": stick, "id": stick + "-plug", "serial": stick, "removable": true}})
}

// Pull takes a stick out, without a word to the guest before.
func (g *Guest) Pull(stick string) error {
	return g.order(order{"device_del", values{"id": stick + "-plug"}})
}

// order is one of QEMU's machine protocol (QMP).
type order struct {
	Execute   string `json:"execute"`
	Arguments values `json:"arguments,omitempty"`
}

type values map[string]any

// order gives orders to the machine, one after the other, and returns the first refusal.
func (g *Guest) order(orders ...order) error {
	conn, err := net.DialTimeout("unix", filepath.Join(g.dir, "monitor"), 10*time.Second)
	if err != nil {
		return fmt.Errorf("ordering the machine: %w", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(wait.Timeout(10 * time.Second)))
	said, say := json.NewDecoder(conn), json.NewEncoder(conn)
	var greeting map[string]any
	if err := said.Decode(&greeting); err != nil {
		return fmt.Errorf("ordering the machine: %w", err)
	}
	for _, o := range append([]order{{Execute: "qmp_capabilities"}}, orders...) {
		if err := say.Encode(o); err != nil {
			return fmt.Errorf("%s: %w", o.Execute, err)
		}
		for answered := false; !answered; { // events come between
			var word map[string]any
			if err := said.Decode(&word); err != nil {
				return fmt.Errorf("%s: %w", o.Execute, err)
			}
			if word["error"] != nil {
				return fmt.Errorf("%s: %v", o.Execute, word["error"])
			}
			_, answered = word["return"]
		}
	}
	return nil
}
