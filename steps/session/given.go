package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"touchdown/backend/host"
)

// longestGiven is how many bytes a file may have whose path a person types as the value of a field.
const longestGiven = 1 << 20

// givenFolders are where people put files for a node: sticks, their homes, folders for everyone. The console is root, so that any
// other path would show its reader what only root may read, such as the secrets that the engine keeps.
var givenFolders = []string{"/run/media", "/media", "/mnt", "/home", "/var/home", "/tmp", "/var/tmp"}

// ReadGiven returns what is in a file of this machine whose path a person typed at a console. Its errors wrap ErrInvalid.
func ReadGiven(file string) ([]byte, error) {
	clean := filepath.Clean(file)
	for _, folder := range givenFolders {
		name, below := strings.CutPrefix(clean, folder+"/")
		if !below {
			continue
		}
		data, whole, err := host.ReadBeneath(folder, name, longestGiven)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, file, withoutPath(err))
		case !whole:
			return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrInvalid, file, longestGiven)
		}
		return data, nil
	}
	return nil, fmt.Errorf("%w: %s is not read; put the file below %s", ErrInvalid, file, strings.Join(givenFolders, ", "))
}

// withoutPath drops the path from an error: it is in the text already.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
