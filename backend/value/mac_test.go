package value_test

import (
	"testing"

	"touchdown/backend/value"
)

func TestMAC(t *testing.T) {
	for text, want := range map[string]string{
		"aa:bb:cc:dd:ee:0f": "aa:bb:cc:dd:ee:0f", "AA-BB-CC-DD-EE-0F": "aa:bb:cc:dd:ee:0f", "AABB.ccdd.ee0f": "aa:bb:cc:dd:ee:0f", "aabbccddee0f": "aa:bb:cc:dd:ee:0f",
		"": "", "eno1": "", "aabb.ccdd": "", "aabb.ccdd.eegg": "", "aa:bb:cc:dd:ee": "", "aa:bb:cc:dd:ee:ff:00:11": "", "aa:bb-cc:dd-ee:ff": "", "aabbccddee": "",
	} {
		if got := value.MAC(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
