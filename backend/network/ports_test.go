package network

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

// announcement is a frame as lldpd sends it: chassis and port by MAC, port description, system name, port VLAN 42, frames of 9216 bytes.
const announcement = "0180c200000e" + "aa0000000009" + "88cc" +
	"0207" + "04aa0000000009" + // chassis
	"040c" + "05" + "4769312f302f34ffffff07" + // port by name: Gi1/0/4 and bytes no console can show
	"0602" + "0078" +
	"0a04" + "73772d37" + // sw-7
	"fe06" + "0080c201002a" + "fe06" + "00120f042400" +
	"0000"

func TestLLDP(t *testing.T) {
	frame, err := hex.DecodeString(announcement)
	if err != nil {
		t.Fatal(err)
	}
	n, ok := parseLLDP(frame)
	if want := (Neighbour{System: "sw-7", Port: "Gi1/0/4", Description: n.Description, VLAN: 42, Frame: 9216}); !ok || n != want {
		t.Errorf("heard %+v, want %+v", n, want)
	}
	for size := range frame {
		parseLLDP(frame[:size]) // a torn frame must not be read beyond its end
	}
	if _, ok := parseLLDP([]byte(strings.Repeat("x", 60))); ok {
		t.Error("any frame is an announcement")
	}
}

// announcedAs is a frame with a port identifier, behind its subtype, a description of the port and a name.
func announcedAs(port, text, system string) []byte {
	frame := append(make([]byte, 12), 0x88, 0xcc)
	for kind, value := range []string{1: "\x04\x52\x54\x00\x00\x00\x01", 2: port, 3: "\x00\x78", 4: text, 5: system} {
		if value != "" {
			frame = binary.BigEndian.AppendUint16(frame, uint16(kind<<9|len(value)))
			frame = append(frame, value...)
		}
	}
	return append(frame, 0, 0)
}

// TestPortIdentifiers: only a MAC is less than the description; a name may have colons, and be as long as the standard allows.
func TestPortIdentifiers(t *testing.T) {
	long := strings.Repeat("switch-", 36) + "abc"
	for what, c := range map[string]struct{ port, text, system, is, description string }{
		"a breakout port":   {"\x05ethernet1/1/5:1", "rack 7", "sw-7", "ethernet1/1/5:1", "rack 7"},
		"a MAC":             {"\x03\x52\x54\x00\x00\x00\x07", "Gi1/0/7", "sw-7", "Gi1/0/7", "Gi1/0/7"},
		"a MAC and no text": {"\x03\x52\x54\x00\x00\x00\x07", "", "sw-7", "52:54:00:00:00:07", ""},
		"a number":          {"\x07513", "ge-0/0/1", "sw-7", "513", "ge-0/0/1"},
		"a long name":       {"\x05Gi1/0/4", "", long, "Gi1/0/4", ""},
	} {
		if n, ok := parseLLDP(announcedAs(c.port, c.text, c.system)); !ok || n.Port != c.is || n.System != c.system || n.Description != c.description {
			t.Errorf("%s: %+v", what, n)
		}
	}
	if label := (Port{Name: "eno1", Neighbour: Neighbour{System: long}}).Label().String(); len(label) > 100 {
		t.Errorf("a line of %d bytes: %s", len(label), label)
	}
}

// A port that loses its cable forgets its switch and listens from the beginning; one that keeps it does neither.
func TestLLDPForgetsWithTheCarrier(t *testing.T) {
	sw, began := Neighbour{System: "sw-7"}, time.Now().Add(-time.Hour)
	l := &listener{ports: map[string]*ear{"eno1": {from: sw, at: time.Now(), since: began}, "eno2": {from: sw, at: time.Now(), since: began}}}
	l.watch([]Port{{Name: "eno1"}, {Name: "eno2", Carrier: true}})
	if from, listened := l.heard("eno1"); from != (Neighbour{}) || listened >= time.Hour {
		t.Errorf("without a cable: %+v, listened for %s", from, listened)
	}
	if from, listened := l.heard("eno2"); from != sw || listened < time.Hour {
		t.Errorf("with a cable: %+v, listened for %s", from, listened)
	}
}

func TestLabel(t *testing.T) {
	for want, p := range map[string]Port{
		"enp1s0, 10 Gbit/s, link up, in use, switch sw-7 port Gi1/0/4, MAC aa:00:00:00:00:01": {Name: "enp1s0", Mbps: 10000, Carrier: true, Up: true, Uplink: true, Neighbour: Neighbour{System: "sw-7", Port: "Gi1/0/4"}, MAC: "aa:00:00:00:00:01"},
		"eno1, 2.5 Gbit/s, link up":                           {Name: "eno1", Mbps: 2500, Carrier: true, Up: true},
		"eno1, link up, switch sw-7, MAC aa:00:00:00:00:01":   {Name: "eno1", Carrier: true, Neighbour: Neighbour{System: "sw-7"}, MAC: "aa:00:00:00:00:01"},
		"eno1, link up, switch port 4, MAC aa:00:00:00:00:01": {Name: "eno1", Carrier: true, Neighbour: Neighbour{Port: "4"}, MAC: "aa:00:00:00:00:01"},
		"eno2, no cable":     {Name: "eno2", Up: true},
		"eno3, switched off": {Name: "eno3"},
	} {
		if got := p.Label().String(); got != want {
			t.Errorf("label is %q, want %q", got, want)
		}
	}
}
