package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"touchdown/backend/value"
)

// ReportKeys reads a ledger from outside and returns the keys with which a machine signs its reports, the newest last: one for each
// time that it was sealed with another key. A serial number that is not there has none.
func ReportKeys(path, serial string) (keys []string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, unusable(path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxLedger {
		return nil, unusable(path, errors.Join(err, errors.New("it is no regular file of at most 4 GiB")))
	}
	lines := bufio.NewReaderSize(f, maxLine)
	for n := 1; serial != ""; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) { // what has no line end was torn, or is being written
			return keys, nil
		}
		if err != nil {
			return nil, unusable(path, fmt.Errorf("line %d: %w", n, err))
		}
		key, err := reportKey(line, serial)
		if err != nil {
			return nil, unusable(path, fmt.Errorf("line %d: %w", n, err))
		}
		if key != "" {
			keys = append(slices.DeleteFunc(keys, func(k string) bool { return k == key }), key)
		}
	}
	return nil, nil
}

// reportKey is the key in a line, "" where the line is of another machine or has none.
func reportKey(line []byte, serial string) (string, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return "", nil
	}
	if err := value.OneMeaning(line); err != nil {
		return "", err
	}
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return "", errors.New("it is no JSON object of a ledger")
	}
	if e.Format < 1 || e.Format > format {
		return "", fmt.Errorf("this release does not know format %d", e.Format)
	}
	if e.Serial != serial {
		return "", nil
	}
	return e.ReportKey, nil
}
