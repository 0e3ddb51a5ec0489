package host

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/test/wait"
)

// TestAFileSystemWithoutFolders: one that cannot sync a folder says so to who has to know, and keeps no file from being written.
func TestAFileSystemWithoutFolders(t *testing.T) {
	if err := SyncDir("/proc"); !errors.Is(err, unix.EINVAL) {
		wait.Unable(t, "/proc can: %v", err)
	}
	if err := syncDir("/proc"); err != nil {
		t.Error(err)
	}
	if err := syncDir("/proc/nowhere"); !errors.Is(err, unix.ENOENT) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
