package kernel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"touchdown/test/bench/kernel/talk"
	"touchdown/test/wait"
)

// Boot switches the guest on. It returns when the guest takes orders.
func (g *Guest) Boot(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.qemu != nil {
		return errors.New("booting the guest: it is on")
	}
	socket := filepath.Join(g.dir, "talk")
	_ = os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("booting the guest: %w", err)
	}
	defer listener.Close()
	cmd := exec.Command("qemu-system-x86_64", g.arguments()...)
	complaint, err := os.OpenFile(filepath.Join(g.dir, "qemu.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("booting the guest: %w", err)
	}
	defer complaint.Close()
	cmd.Stdout, cmd.Stderr = complaint, complaint
	for _, t := range g.trunks {
		end, err := t.plug()
		if err != nil {
			return err
		}
		defer end.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, end)
	}
	if g.gone, err = start(cmd); err != nil {
		return fmt.Errorf("booting the guest: %w", err)
	}
	g.qemu = cmd
	if g.line, err = answer(listener, g.gone); err != nil {
		text, _ := os.ReadFile(complaint.Name())
		return fmt.Errorf("booting the guest: %w: %s", err, text)
	}
	return g.line.booted(ctx, "")
}

// start starts a program that ends when this process does, however that ends.
func start(cmd *exec.Cmd) (gone chan struct{}, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, gone := make(chan error), make(chan struct{})
	go func() {
		// The signal comes when the thread ends that started the program.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(gone)
	}()
	return gone, <-started
}

// answer waits for the guest's end of the line.
func answer(listener net.Listener, gone <-chan struct{}) (*line, error) {
	go func() {
		select {
		case <-gone:
		case <-time.After(wait.Timeout(30 * time.Second)):
		}
		_ = listener.Close()
	}()
	conn, err := listener.Accept()
	if err != nil {
		return nil, fmt.Errorf("the virtual machine does not start: %w", err)
	}
	return newLine(conn), nil
}

// kernelLine leaves out what an emulated processor pays dearly for: cures for faults of real ones, security modules, clearing
// of fresh memory, waiting for quiet processors.
const kernelLine = "console=ttyS0 quiet loglevel=3 mitigations=off lsm= audit=0 init_on_alloc=0 psi=0 nowatchdog nokaslr " +
	"tsc=reliable rcupdate.rcu_expedited=1"

// arguments are QEMU's. The processor is emulated, since a build machine seldom lends its own, and an old one: page tables of
// five levels and wide vectors cost time here.
func (g *Guest) arguments() []string {
	in := func(name string) string { return filepath.Join(g.dir, name) }
	list := []string{
		"-machine", "q35", "-accel", "tcg,thread=multi,tb-size=512", "-cpu", "Nehalem", "-smp", "2", "-m", "1024",
		"-nodefaults", "-no-user-config", "-display", "none",
		"-kernel", g.file("vmlinuz"), "-initrd", g.initrd(),
		"-append", kernelLine,
		"-drive", "file=" + in("disk") + ",if=none,id=disk,format=qcow2", "-device", "virtio-blk-pci,drive=disk", // vda
		"-drive", "file=" + in("layer") + ",if=none,id=layer,format=raw,readonly=on", "-device", "virtio-blk-pci,drive=layer", // vdb
	}
	list = append(list, g.live.drives()...)
	if g.serial != "" {
		list = append(list, "-smbios", "type=1,serial="+g.serial)
	}
	list = append(list,
		"-device", "virtio-rng-pci", "-device", "qemu-xhci,id="+usb,
		"-chardev", "file,id=console,append=on,path="+in("console.log"), "-serial", "chardev:console",
		"-chardev", "socket,id=talk,path="+in("talk"), "-device", "virtio-serial-pci",
		"-device", "virtserialport,chardev=talk,name="+talk.Port,
		"-qmp", "unix:"+in("monitor")+",server=on,wait=off",
	)
	list = append(list, g.parts...)
	for i := range g.trunks {
		const firstExtra = 3 // of ExtraFiles
		list = append(list,
			"-netdev", fmt.Sprintf("dgram,id=cable%d,local.type=fd,local.str=%d", i, firstExtra+i),
			"-device", fmt.Sprintf("virtio-net-pci,id=port%d,netdev=cable%d,mac=%s", i, i, MAC(i)))
	}
	return list
}

// Cut takes the power away: QEMU is killed, and with it goes what the guest had not written to its disk. On a guest that is
// off it does nothing.
func (g *Guest) Cut() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.qemu == nil {
		return nil
	}
	err := g.qemu.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	<-g.gone
	if g.line != nil {
		g.line.close()
	}
	g.qemu, g.line = nil, nil
	if err != nil {
		return fmt.Errorf("cutting the guest's power: %w", err)
	}
	return nil
}

// Reboot has the guest's kernel reboot, and returns when the next boot takes orders.
func (g *Guest) Reboot(ctx context.Context) error {
	l, err := g.on()
	if err != nil {
		return err
	}
	boot, err := g.Shell(ctx, "cat /proc/sys/kernel/random/boot_id")
	if err != nil {
		return err
	}
	if _, err := g.Shell(ctx, "systemctl reboot --no-block"); err != nil {
		return err
	}
	return l.booted(ctx, strings.TrimSpace(boot))
}
