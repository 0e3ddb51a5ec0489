package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A node's sysfs is the machine's own: it has the machine's disks, and perhaps no serial number. Until its next boot, files before it tell
// of what is plugged into the node.

// plate gives the node a serial number, and sockets that are empty.
const plate = `mkdir -p /run/class && mount --bind /sys/class /run/class && mount --make-private /run/class && mount -t tmpfs none /sys/class
for class in $(ls /run/class | grep -vx -e dmi -e block); do mkdir /sys/class/$class && mount --bind /run/class/$class /sys/class/$class; done
mkdir -p /sys/class/block /sys/class/dmi/id && echo "$1" > /sys/class/dmi/id/product_serial
mount -t tmpfs none /sys/dev/block`

// insert tells of a disk that can be pulled out, by its number.
const insert = `mkdir -p /run/usb1/sdb; cd /run/usb1/sdb
echo "$1" > dev; echo 1 > removable; echo "$2" > diskseq; echo "$3" > size
ln -sfn /run/usb1/sdb "/sys/dev/block/$1"; ln -sfn /run/usb1/sdb /sys/class/block/sdb`

// Plate gives the node a serial number until its next boot, and sockets for Insert.
func (m *Machine) Plate(ctx context.Context, serial string) error {
	if _, err := m.Run(ctx, "sh", "-ec", plate, "plate", serial); err != nil {
		return fmt.Errorf("giving the node a serial number: %w", err)
	}
	return nil
}

// Insert plugs a stick with an image in: a block device that the node may write to, and what it writes is in the image. Pull takes it out.
func (m *Machine) Insert(ctx context.Context, image string) (pull func() error, err error) {
	info, err := os.Stat(image)
	if err != nil {
		return nil, fmt.Errorf("plugging a stick in: %w", err)
	}
	device, err := output(exec.CommandContext(ctx, "losetup", "--find", "--show", image))
	if err != nil {
		return nil, fmt.Errorf("plugging a stick in: %w", err)
	}
	loop := strings.TrimSpace(string(device))
	pull = func() error {
		_, gone := m.Shell(context.WithoutCancel(ctx), "rm -f /sys/class/block/sdb /dev/sdb; rm -rf /run/usb1")
		if _, err := output(exec.Command("losetup", "--detach", loop)); err != nil {
			return fmt.Errorf("pulling a stick: %w", err)
		}
		return gone
	}
	number, err := os.ReadFile(filepath.Join("/sys/class/block", filepath.Base(loop), "dev"))
	is := strings.TrimSpace(string(number))
	if err == nil {
		err = m.allow("b " + is + " rw")
	}
	m.sticks++
	if err == nil {
		err = m.makeDevice("/dev/sdb", is)
	}
	if err == nil {
		_, err = m.Run(ctx, "sh", "-ec", insert, "insert", is, fmt.Sprint(m.sticks), fmt.Sprint(info.Size()/512))
	}
	if err != nil {
		_ = pull()
		return nil, fmt.Errorf("plugging a stick in: %w", err)
	}
	return pull, nil
}

// makeDevice makes the file of a block device in the node, which itself may not.
func (m *Machine) makeDevice(name, number string) error {
	path, err := m.Path(name)
	if err != nil {
		return err
	}
	var major, minor uint32
	if _, err := fmt.Sscanf(number, "%d:%d", &major, &minor); err != nil {
		return fmt.Errorf("reading the number of a device: %w", err)
	}
	if err := unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(major, minor))); err != nil {
		return fmt.Errorf("making %s: %w", name, err)
	}
	return nil
}
