package media

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxOrder bounds what a confined process is told, in bytes: the largest order has the files that are added to a medium, in base64.
const maxOrder = 16 << 20

// orderOf is what a confined process is told, as a file in memory: arguments would be in every list of processes.
func orderOf(v any) (*os.File, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing the order: %w", err)
	}
	number, err := unix.MemfdCreate("order", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("writing the order: %w", err)
	}
	f := os.NewFile(uintptr(number), "order")
	if _, err := f.WriteAt(text, 0); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("writing the order: %w", err)
	}
	return f, nil
}

// readOrder reads it in that process.
func readOrder(f *os.File, v any) error {
	if err := json.NewDecoder(io.NewSectionReader(f, 0, maxOrder)).Decode(v); err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	return nil
}
