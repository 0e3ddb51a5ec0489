package network

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
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
	if want := (Neighbour{System: "sw-7", Port: "Gi1/0/4", VLAN: 42, Frame: 9216}); !ok || n != want {
		t.Errorf("heard %+v, want %+v", n, want)
	}
	for size := range frame {
		parseLLDP(frame[:size]) // a torn frame must not be read beyond its end
	}
	if _, ok := parseLLDP([]byte(strings.Repeat("x", 60))); ok {
		t.Error("any frame is an announcement")
	}
}

// TestLLDPNames hears the kinds of names that switches give a port, its description and long names.
func TestLLDPNames(t *testing.T) {
	value := func(kind int, text string) []byte {
		return append(binary.BigEndian.AppendUint16(nil, uint16(kind<<9|len(text))), text...)
	}
	long := "sw-access-12.building-a.campus-north.region-emea.corp.example-company.com"
	for name, c := range map[string]struct {
		id, text, system string
		want             Neighbour
	}{
		"name with a colon":      {"\x05ethernet1/1/5:1", "rack 7 server 12", "sw-7", Neighbour{System: "sw-7", Port: "ethernet1/1/5:1"}},
		"number with a colon":    {"\x07xe-0/0/0:2", "to store 42", "sw-7", Neighbour{System: "sw-7", Port: "xe-0/0/0:2", Description: "to store 42"}},
		"number and name":        {"\x07513", "ge-0/0/1", "sw-7", Neighbour{System: "sw-7", Port: "513", Description: "ge-0/0/1"}},
		"described by number":    {"\x07513", "513", "sw-7", Neighbour{System: "sw-7", Port: "513"}},
		"MAC":                    {"\x03\xaa\x00\x00\x00\x00\x09", "Gi1/0/4", "sw-7", Neighbour{System: "sw-7", Port: "Gi1/0/4", Description: "aa:00:00:00:00:09"}},
		"address":                {"\x04\x01\xc6\x33\x64\x01", "Gi1/0/4", "sw-7", Neighbour{System: "sw-7", Port: "Gi1/0/4", Description: "198.51.100.1"}},
		"address alone":          {"\x04\x01\xc6\x33\x64\x01", "", "sw-7", Neighbour{System: "sw-7", Port: "198.51.100.1"}},
		"no address":             {"\x04\x01abc", "", "sw-7", Neighbour{System: "sw-7"}},
		"MAC alone":              {"\x03\xaa\x00\x00\x00\x00\x09", "", "sw-7", Neighbour{System: "sw-7", Port: "aa:00:00:00:00:09"}},
		"system and port of 73":  {"\x05" + long, "", long, Neighbour{System: long, Port: long}},
		"more than the standard": {"\x05a", "", strings.Repeat("a", 300), Neighbour{System: strings.Repeat("a", 255), Port: "a"}},
	} {
		frame := binary.BigEndian.AppendUint16(make([]byte, 12), lldpType)
		n, ok := parseLLDP(slices.Concat(frame, value(lldpPortID, c.id), value(lldpPortText, c.text), value(lldpSystem, c.system)))
		if !ok || n != c.want {
			t.Errorf("%s: heard %+v, want %+v", name, n, c.want)
		}
	}
	if got := (Port{Name: "eno1", Neighbour: Neighbour{System: long, Port: long}}).Label().String(); len(got) > 200 || strings.Contains(got, long) {
		t.Errorf("the label is %q", got)
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
