package walk

import (
	"strings"
	"time"

	"touchdown/test/bench/person"
	"touchdown/test/wait"
)

// scribbledOn is what a kernel's message does to a screen, and what Ctrl-L does to the message.
func (w *walk) scribbledOn() {
	w.t.Helper()
	w.shell(`printf '\r\n[   17.342] usb 1-1: new high-speed USB device number 2\r\n\n\n' > /dev/` + w.console)
	w.p.Shows("new high-speed USB device")
	w.p.Keep("A message of the kernel")
	w.p.Types("\x0c")
	w.p.Whole("the page without it", func(s string) bool {
		return !strings.Contains(s, "USB device") && strings.HasPrefix(s, "Touchdown ") && strings.Contains(line(s, 1), "Hardware check") && strings.Contains(s, "[ Waive ]")
	})
}

// other is the console at which the technician does not sit.
func (w *walk) other() string {
	if w.console == "tty1" {
		return "ttyS0"
	}
	return "tty1"
}

// takenOverAtForm: what was half typed stays.
func (w *walk) takenOverAtForm() {
	w.t.Helper()
	w.p.At("Time servers (NTP)")
	w.p.Replace("198.51")
	w.takenOver()
	w.p.Shows("[198.51 ")
}

// takenOver lets a colleague at the node's other console take control, and takes it back.
func (w *walk) takenOver() {
	w.t.Helper()
	colleague := person.Sit(w.t, w.l.Node.Console(w.other()))
	colleague.TakeOver()
	w.p.Shows(w.other() + " took control. What you typed is kept here.")
	w.look("A colleague at " + w.other() + " took control")
	w.p.TakeOver()
	colleague.Shows(w.console + " took control.")
}

// killedAtWork: the console that comes back shows the work. It may have ended meanwhile.
func (w *walk) killedAtWork() {
	w.t.Helper()
	w.killed()
	w.p.Until("the work", working)
}

// killedAtForm: what was typed is there.
func (w *walk) killedAtForm() {
	w.t.Helper()
	w.killed()
	w.p.Shows("Stage 2 of 7: Network")
	for _, field := range sheet {
		w.p.At(field.label)
		w.p.Shows("[" + field.value + " ")
	}
}

// killed takes the console's process away; its unit brings it back.
func (w *walk) killed() {
	w.t.Helper()
	unit := "touchdown-console@" + w.console
	before := w.shell("systemctl show -P MainPID " + unit)
	w.shell("kill -9 " + before)
	w.p.Take()
	if after := w.shell("systemctl show -P MainPID " + unit); after == before || after == "0" {
		w.t.Errorf("the console was process %s, is %s", before, after)
	}
}

// line is the beginning of a line of the screen, which tells the page.
func line(screen string, n int) string {
	lines := append(strings.Split(screen, "\n"), make([]string, n+1)...)
	text, _, _ := strings.Cut(lines[n], "  ")
	return text
}

// loggedIn leaves the wizard for a login on the same line, and gets it back at logout.
func (w *walk) loggedIn() {
	w.t.Helper()
	p := w.p
	w.shell("echo root:letmein | chpasswd")
	p.Types("\x03")
	p.Shows("Leave this console?")
	p.Types(person.Sure)
	p.Says("login:", "root", "Password:")
	p.Says("Password:", "letmein", "~#")
	p.Types("tty\r")
	p.Shows("/dev/" + w.console)
	p.Types("exit\r")
	p.Take()
	p.Shows("Stage 3 of 7: Names and credentials") // the page that was typed on last
	p.Shows("[retail.example.com ")
}

// hungUp is what a serial port does that loses its carrier: the kernel hangs the line up (TIOCVHANGUP of ioctl_tty(2)). The
// console ends, and no login takes its place.
func (w *walk) hungUp() {
	w.t.Helper()
	w.shell(`perl -e 'open my $line, "+<", "/dev/` + w.console + `" or die $!; ioctl $line, 0x5437, 0 or die $!'`)
	if err := w.l.Node.Wait(wait.Within(w.t, time.Minute), "journalctl --no-pager -u touchdown-console@"+w.console+" | grep -q status=4"); err != nil {
		w.t.Fatal(err)
	}
	w.p.Take()
	w.p.Shows("Review: nothing was changed so far")
	if out, err := w.l.Node.Shell(w.t.Context(), "systemctl is-active touchdown-login@"+w.console); err == nil {
		w.t.Errorf("a login on a line that hung up: %s", out)
	}
}

// dropped loses the connection to the service processor, as a network does, and opens it again in front of an empty terminal.
func (w *walk) dropped() {
	w.t.Helper()
	w.bmc.Drop(w.remote)
	w.remote = w.bmc.Activate()
	w.p.Move(w.remote)
	w.p.Shows("SOL Session operational")
	w.p.Redraws("the work", working)
	w.look("The connection dropped and is open again")
}

// otherGone takes the node's other console away for good. The work takes no notice.
func (w *walk) otherGone() {
	w.t.Helper()
	if err := w.l.Node.Console(w.other()).Close(); err != nil {
		w.t.Fatal(err)
	}
}
