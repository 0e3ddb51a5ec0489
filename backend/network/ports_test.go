package network

import (
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
	if want := (Neighbour{"sw-7", "Gi1/0/4", 42, 9216}); !ok || n != want {
		t.Errorf("heard %+v, want %+v", n, want)
	}
	for size := range frame {
		parseLLDP(frame[:size]) // a torn frame must not be read beyond its end
	}
	if _, ok := parseLLDP([]byte(strings.Repeat("x", 60))); ok {
		t.Error("any frame is an announcement")
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
