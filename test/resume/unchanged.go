package resume

import (
	"crypto/sha256"
	"fmt"
	"os"
)

// Unchanged is a file that a long run rests on, as it was when the run began.
type Unchanged struct {
	file string
	sum  [sha256.Size]byte
}

// Note notes what a file is now.
func Note(file string) (Unchanged, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Unchanged{}, fmt.Errorf("reading what is tested: %w", err)
	}
	return Unchanged{file, sha256.Sum256(data)}, nil
}

// Check tells whether the file is another one than was noted.
func (u Unchanged) Check() error {
	now, err := Note(u.file)
	if err == nil && now != u {
		err = fmt.Errorf("%s was replaced during the run: run it again, for this program", u.file)
	}
	return err
}
