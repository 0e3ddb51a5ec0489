package kernel

import (
	"bytes"
	"testing"
)

// TestTags puts tags on frames and takes them off as a switch does.
func TestTags(t *testing.T) {
	bare := []byte("\x52\x54\x00\x00\x51\x01\x52\x54\x00\x00\x51\x02\x08\x00payload")
	tagged := tag(append(make([]byte, tagLength), bare...), 120)
	want := []byte("\x52\x54\x00\x00\x51\x01\x52\x54\x00\x00\x51\x02\x81\x00\x00\x78\x08\x00payload")
	if !bytes.Equal(tagged, want) {
		t.Fatalf("tagged with 120: %q", tagged)
	}
	if frame, vlan := untag(tagged); vlan != 120 || !bytes.Equal(frame, bare) {
		t.Errorf("untagged: VLAN %d, %q", vlan, frame)
	}
	urgent := []byte("\x52\x54\x00\x00\x51\x01\x52\x54\x00\x00\x51\x02\x81\x00\xe0\x00\x08\x00payload")
	if frame, vlan := untag(urgent); vlan != Untagged || !bytes.Equal(frame, bare) {
		t.Errorf("a frame with a priority only: VLAN %d, %q", vlan, frame)
	}
	if frame, vlan := untag(bare[:13]); vlan != Untagged || len(frame) != 13 {
		t.Errorf("a scrap of a frame: VLAN %d, %q", vlan, frame)
	}
}
