package host

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Scratch opens a file without a name in a folder of the machine that exists. It is gone when it is closed, and after a crash or a
// power cut too: no name ever leads to it (O_TMPFILE, which XFS, ext4 and tmpfs have).
func Scratch(m *Machine, folder string) (*os.File, error) {
	file, err := os.OpenFile(m.Path(folder), os.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening a file without a name in %s: %w", folder, cause(err))
	}
	return file, nil
}
