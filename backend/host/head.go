package host

import (
	"fmt"
	"io"
	"os"
)

// ReadHead returns the first bytes of a file, at most limit, and whether that is all of it: for files whose size nobody
// vouches for.
func (m *Machine) ReadHead(path string, limit int64) (head []byte, whole bool, err error) {
	f, err := os.Open(m.Path(m.follow(path)))
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	defer f.Close()
	head, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	if int64(len(head)) > limit {
		return head[:limit], false, nil
	}
	return head, true, nil
}
