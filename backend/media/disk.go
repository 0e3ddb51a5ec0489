package media

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// disk is what the kernel tells about the disk of a block device, which may be a partition of it.
type disk struct {
	model, serial string // "" where it tells none
	bytes         int64  // 0 where it tells none
	loose         bool   // it can be pulled out: removable, or on USB
}

// diskOf looks a device up by its number below sys, which is /sys but in tests. What sysfs does not tell about counts as fixed.
func diskOf(sys string, number uint64) disk {
	dir, err := filepath.EvalSymlinks(filepath.Join(sys, "dev/block", fmt.Sprintf("%d:%d", unix.Major(number), unix.Minor(number))))
	if err != nil {
		return disk{}
	}
	if attribute(dir, "partition") != "" {
		dir = filepath.Dir(dir)
	}
	is := disk{model: strings.TrimSpace(attribute(dir, "device/vendor") + " " + attribute(dir, "device/model"))}
	if sectors, err := strconv.ParseInt(attribute(dir, "size"), 10, 54); err == nil {
		is.bytes = sectors << 9 // sysfs counts 512 bytes, whatever the disk does
	}
	is.loose = attribute(dir, "removable") == "1" || strings.Contains(dir, "/usb")
	// A stick's number is that of its USB device, some folders above the disk.
	is.serial = attribute(dir, "device/serial")
	for up := dir; is.serial == "" && len(up) > len(sys); up = filepath.Dir(up) {
		is.serial = attribute(up, "serial")
	}
	return is
}

// attribute reads a file of sysfs: "" when there is none. Devices write what they like in it.
func attribute(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	shown := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(text[:min(len(text), 64)]))
	return strings.TrimSpace(shown)
}

// text names the disk as far as it is known: "Kingston DataTraveler, serial number 1A2B, 31.0 GB".
func (d disk) text() message.Text {
	model, serial := message.Data(d.model), message.Data(d.serial)
	if d.model == "" {
		model = message.T("unknown model")
	}
	if d.serial == "" {
		serial = message.T("not known")
	}
	size := message.T("size not known")
	if d.bytes > 0 {
		size = message.F("%.1f GB", float64(d.bytes)/1e9)
	}
	return message.F("%s, serial number %s, %s", model, serial, size)
}

// refuseFixed refuses a disk that is not a stick.
func (d disk) refuseFixed(path string) error {
	if d.loose {
		return nil
	}
	return &problem.Problem{
		Code: "MED-HARD", Summary: message.F("%s is neither removable nor on USB: %s.", path, d.text()),
		Fix: message.T("Check the name of the device: a disk of this machine looks like this. If it is the medium, add --fixed-disk."),
	}
}
