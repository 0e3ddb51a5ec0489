// Package bmc is a service processor in front of a node's serial line: OpenIPMI's simulator, reached by ipmitool as over
// a network.
package bmc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// lanConf and simEmu are a service processor with one account and a serial line, in ipmi_sim's words.
const (
	lanConf = `name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 %d
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  user 1 true "" "none" user 10 none md2 md5 straight
  user 2 true "admin" "bench" admin 10 none md2 md5 straight
  chassis_control "%s"
  sol "%s" 115200
  startcmd "true"
  startnow false
`
	simEmu = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
mc_enable 0x20
`
	chassis = "#!/bin/sh\n[ \"$2 $3\" != 'get power' ] || echo power:1\n"
)

// locks is where ipmi_sim leaves LCK..<last part of the line's name>, with the number of its process.
const locks = "/var/lock"

// Processor is a service processor.
type Processor struct {
	t    testing.TB
	port int // UDP, on the loopback
}

// Able says what this machine lacks for it: nil, or an error of the kind node.ErrUnable.
func Able() error {
	for _, tool := range []string{"ipmi_sim", "ipmitool"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w: %s is missing (make e2e-tools)", node.ErrUnable, tool)
		}
	}
	if err := unix.Access(locks, unix.W_OK); err != nil {
		return fmt.Errorf("%w: ipmi_sim locks its serial line in %s: %w", node.ErrUnable, locks, err)
	}
	return nil
}

// Start puts a service processor in front of a serial line, until the test ends.
func Start(t testing.TB, line io.ReadWriter) *Processor {
	t.Helper()
	outer, inner, err := pty.Open()
	if err == nil {
		_, err = term.MakeRaw(int(inner.Fd()))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inner.Close(); outer.Close() })
	go func() { _, _ = io.Copy(outer, line) }()
	go func() { _, _ = io.Copy(line, outer) }()
	p := &Processor{t: t, port: freePort(t)}
	p.simulate(inner.Name())
	return p
}

// simulate runs the service processor with a serial device and waits for its first answer.
func (p *Processor) simulate(device string) {
	p.t.Helper()
	dir := p.t.TempDir()
	// Under a separate name, the line cannot be locked by an ipmi_sim that was killed: the kernel gives the names of terminals
	// to others again, and a lock of another user cannot be removed. Then the line would stay silent.
	name := fmt.Sprintf("bmc-%d-%d", os.Getpid(), p.port)
	if err := os.Symlink(device, filepath.Join(dir, name)); err != nil {
		p.t.Fatal(err)
	}
	device = filepath.Join(dir, name)
	script := filepath.Join(dir, "chassis.sh")
	files := map[string]string{
		script: chassis, filepath.Join(dir, "lan.conf"): fmt.Sprintf(lanConf, p.port, script, device), filepath.Join(dir, "sim.emu"): simEmu,
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			p.t.Fatal(err)
		}
	}
	var said bytes.Buffer
	sim := exec.Command("ipmi_sim", "-c", "lan.conf", "-f", "sim.emu", "-s", dir, "-n")
	sim.Dir, sim.Stdout, sim.Stderr = dir, &said, &said
	if err := sim.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = sim.Process.Kill()
		_ = sim.Wait()
		_ = os.Remove(filepath.Join(locks, "LCK.."+name)) // there is none unless the line was opened
		if p.t.Failed() {
			p.t.Logf("ipmi_sim: %s", said.String()) // to be read when it has ended
		}
	})
	wait.Until(p.t, "the service processor's first answer", func(ctx context.Context) error {
		out, err := p.ipmi(ctx, "mc", "info").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

func (p *Processor) ipmi(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "ipmitool", append([]string{"-I", "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", fmt.Sprint(p.port), "-U", "admin", "-P", "bench"}, args...)...)
}

func freePort(t testing.TB) int {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// Session is a serial line over the network, on a terminal of 80 columns and 24 lines.
type Session struct {
	*os.File
	cmd   *exec.Cmd
	ended chan struct{} // closed when ipmitool has ended
}

// Activate opens the line.
func (p *Processor) Activate() *Session {
	p.t.Helper()
	cmd := p.ipmi(context.Background(), "sol", "activate") // until the clean-up
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		p.t.Fatal(err)
	}
	s := &Session{tty, cmd, make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(s.ended)
	}()
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.ended
		tty.Close()
	})
	return s
}

// Drop takes a session's ipmitool away without a word, as a network does that fails. The service processor still holds the
// line for it, so that it has to be freed before someone can have it again.
func (p *Processor) Drop(s *Session) {
	p.t.Helper()
	_ = s.cmd.Process.Kill() // one that ended has dropped too
	<-s.ended
	wait.Until(p.t, "the line to be free", func(ctx context.Context) error {
		out, err := p.ipmi(ctx, "sol", "deactivate").CombinedOutput()
		if err == nil || bytes.Contains(out, []byte("already de-activated")) {
			return nil
		}
		return fmt.Errorf("%w: %s", err, out)
	})
}
