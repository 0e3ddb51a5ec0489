package media

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/problem"
)

// TestDisks: a stick and a card may be written to, a disk of the machine may not, nor its partitions, nor what sysfs does not know.
// Each is named by what sysfs has about it.
func TestDisks(t *testing.T) {
	sys := t.TempDir()
	stick := "devices/pci0000:00/0000:00:14.0/usb1/1-3"
	nvme := "devices/pci0000:00/0000:01:00.0/nvme/nvme0"
	for file, text := range map[string]string{
		stick + "/serial": "1A2B\x1b[2J\n", stick + "/block/sdb/size": "60549120\n", stick + "/block/sdb/removable": "0\n",
		stick + "/block/sdb/device/vendor": "Kingston\n", stick + "/block/sdb/device/model": "DataTraveler \n",
		nvme + "/nvme0n1/size": "1000000000\n", nvme + "/nvme0n1/removable": "0\n", nvme + "/nvme0n1/nvme0n1p1/partition": "1\n",
		nvme + "/nvme0n1/device/model": "Fast SSD\n", nvme + "/nvme0n1/device/serial": "S64\n",
		"devices/platform/card/block/sdc/removable": "1\n",
	} {
		path := filepath.Join(sys, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(sys, "dev/block"), 0o755); err != nil {
		t.Fatal(err)
	}
	for n, test := range []struct {
		device, name string
		loose        bool
	}{
		{stick + "/block/sdb", "Kingston DataTraveler, serial number 1A2B[2J, 31.0 GB", true},
		{nvme + "/nvme0n1", "Fast SSD, serial number S64, 512.0 GB", false},
		{nvme + "/nvme0n1/nvme0n1p1", "Fast SSD, serial number S64, 512.0 GB", false},
		{"devices/platform/card/block/sdc", "unknown model, serial number not known, size not known", true},
		{"devices/gone", "unknown model, serial number not known, size not known", false},
	} {
		number := unix.Mkdev(8, uint32(n))
		if err := os.Symlink("../../"+test.device, filepath.Join(sys, "dev/block/8:"+string(rune('0'+n)))); err != nil {
			t.Fatal(err)
		}
		is := diskOf(sys, number)
		if is.text().String() != test.name || is.loose != test.loose {
			t.Errorf("%s: %s, %t", test.device, is.text(), is.loose)
		}
		err := is.refuseFixed("/dev/x")
		if (err == nil) != test.loose || err != nil && (problem.From(err).Code != "MED-HARD" || !strings.Contains(problem.From(err).Summary.String(), test.name)) {
			t.Errorf("%s: %v", test.device, err)
		}
	}
}
