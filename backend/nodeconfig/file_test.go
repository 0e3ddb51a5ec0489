package nodeconfig_test

import (
	"strings"
	"testing"

	"touchdown/backend/message"
	"touchdown/backend/nodeconfig"
)

// TestFilesThatExcludeEachOther: one MachineConfig or one path for two settings would lose one of them without a word.
func TestFilesThatExcludeEachOther(t *testing.T) {
	first := nodeconfig.File{Name: "kdump", Path: "/etc/kdump.conf", What: message.T("Crash dumps")}
	for _, test := range []struct {
		name, path string
		refused    bool
	}{{"kdump", "/etc/other.conf", true}, {"other", "/etc/kdump.conf", true}, {"other", "/etc/other.conf", false}} {
		second := nodeconfig.File{Name: test.name, Path: test.path, What: message.T("Serial console")}
		_, err := nodeconfig.Changes(t.Context(), nodeconfig.Unread{}, nodeconfig.Want{Files: []nodeconfig.File{first, second}})
		switch {
		case !test.refused && err != nil:
			t.Error(err)
		case test.refused && (err == nil || !strings.Contains(err.Error(), "kdump at /etc/kdump.conf (Crash dumps) and "+test.name+" at "+test.path+" (Serial console)")):
			t.Errorf("%+v: %v", test, err)
		}
	}
}
