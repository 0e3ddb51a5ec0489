package hardware

import (
	"bytes"
	"testing"
)

// FuzzFirmwareTables: whatever the firmware wrote, it is taken apart to its last byte or left, and nothing of it is larger than it.
func FuzzFirmwareTables(f *testing.F) {
	f.Add([]byte("\x11\x28\x00\x10\x00\x00\x00\x00\x48\x00\x40\x00\xff\x7f\x09\x00\x01\x02\x1a\x80\x00\x6a\x0a\x03\x04\x00\x05\x00\x00\x00\x01\x00\x60\x09\x00\x00\x00\x00\x00\x00DIMM_A1\x00Bank 0\x00Samsung\x00\x00\x7f\x04\x00\xff\x00\x00"))
	f.Add([]byte("\x26\x12\x00\x26\x01\x20\x00\xff\xa3\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte{17, 255, 0, 0})
	f.Add([]byte{17, 3, 0, 0, 0, 0})
	f.Add(bytes.Repeat([]byte{17, 4, 0, 0, 0, 0}, 4000))
	f.Fuzz(func(t *testing.T, data []byte) {
		size := 0
		for _, s := range structures(data) {
			size += len(s.body)
			for _, text := range s.texts {
				size += len(text)
			}
			m := s.module()
			if m.Bytes < 0 || m.Bytes > 1<<52 || m.Speed < 0 || m.Speed > 1<<16 {
				t.Errorf("%+v", m)
			}
			for at := range 260 {
				_, _ = s.text(at), s.number(at, 8)
			}
		}
		if size > len(data) {
			t.Errorf("%d bytes came of %d", size, len(data))
		}
	})
}
