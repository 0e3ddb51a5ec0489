package tui

import "testing"

// TestTypedAhead types forty keys at once into a console on a line of 9600 baud: none is lost, and what they draw passes the line within a
// second, 960 bytes. Bytes are counted, not seconds: how fast this machine is does not matter.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	const name, domain, second = "abcdefghijklmnopqrst", "ite.example.example", 960
	l := openLine(t, "form", "vt220", size(80, 24), childSlow+"=yes")
	l.shows("Base domain")
	l.send("\a") // Ctrl-G
	l.shows("you have control")
	l.send("\x15") // as the first key does with a value that was found, but it says when the page takes keys
	l.shows("Cluster name     [                ")
	before := l.written()
	l.send(name + "\t" + domain)
	l.shows("[" + name + " ")
	l.shows("[" + domain + " ")
	drawn := l.written() - before
	t.Logf("%d bytes", drawn)
	if len(name)+len("\t")+len(domain) != 40 || drawn > second {
		t.Errorf("40 keys draw %d bytes, which take more than a second at 9600 baud", drawn)
	}
	l.clean()
}
