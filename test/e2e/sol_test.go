package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/patience"
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

// TestSerialOverLAN opens the wizard through a service processor, as somebody does who is not at the site, and types an
// answer into it.
func TestSerialOverLAN(t *testing.T) {
	for _, tool := range []string{"ipmi_sim", "ipmitool"} {
		if _, err := exec.LookPath(tool); err != nil {
			node.Require(t, fmt.Errorf("%w: %s is missing (make e2e-tools)", node.ErrUnable, tool))
		}
	}
	l := landing.Start(t, landing.Options{Network: edge()})
	p := sit(t, activate(t, serviceProcessor(t, l.Node.Console("ttyS0"))))
	p.shows(20*time.Second, "SOL Session operational")
	begin := time.Now()
	p.types("\x0c")
	p.shows(30*time.Second, "Hardware check")
	t.Logf("the wizard was on the screen %.1f s after the line was open", time.Since(begin).Seconds())
	take(p)
	p.waive("a build machine")
	p.press("Continue")
	p.shows(5*time.Second, "Stage 2 of 7: Network")
	p.until(10*time.Second, "the port of now", func(s string) bool { return strings.Contains(s, "< enp1s0, ") })
	p.at("Network port")
	p.types("a")
	p.shows(5*time.Second, "! The driver of enp1s0 cannot blink its LED.") // it has none; the person reads what to try instead
	p.fill("Time servers (NTP)", "198.51.100.123")
	out, _, err := l.Touchdown(ctxFor(t, 10*time.Second), "answers")
	if err != nil || !strings.Contains(out, "198.51.100.123") {
		t.Errorf("the engine's answers: %v\n%s", err, out)
	}
}

// serviceProcessor puts a service processor in front of a serial line and returns the UDP port that it listens on.
func serviceProcessor(t *testing.T, line io.ReadWriter) int {
	t.Helper()
	outer, inner, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inner.Close(); outer.Close() })
	if _, err := term.MakeRaw(int(inner.Fd())); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(outer, line) }()
	go func() { _, _ = io.Copy(line, outer) }()
	dir, port := t.TempDir(), freePort(t)
	script := filepath.Join(dir, "chassis.sh")
	files := map[string]string{script: chassis, filepath.Join(dir, "lan.conf"): fmt.Sprintf(lanConf, port, script, inner.Name()), filepath.Join(dir, "sim.emu"): simEmu}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	bmc := exec.Command("ipmi_sim", "-c", "lan.conf", "-f", "sim.emu", "-s", dir, "-n")
	bmc.Dir, bmc.Stdout, bmc.Stderr = dir, &said, &said
	if err := bmc.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = bmc.Process.Kill()
		_ = bmc.Wait()
		if t.Failed() {
			t.Logf("ipmi_sim: %s", said.String())
		}
	})
	for end := time.Now().Add(patience.Of(15 * time.Second)); ; {
		out, err := ipmi(port, "mc", "info").CombinedOutput()
		if err == nil {
			return port
		}
		if time.Now().After(end) {
			t.Fatalf("the service processor does not answer: %v\n%s", err, out)
		}
	}
}

func ipmi(port int, args ...string) *exec.Cmd {
	return exec.Command("ipmitool", append([]string{"-I", "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", fmt.Sprint(port), "-U", "admin", "-P", "bench"}, args...)...)
}

func freePort(t *testing.T) int {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// activate opens the serial line over the network on a terminal of 80 columns and 24 lines.
func activate(t *testing.T, port int) *os.File {
	t.Helper()
	cmd := ipmi(port, "sol", "activate")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		tty.Close()
	})
	return tty
}
