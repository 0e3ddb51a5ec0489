package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth is how deep JSON from outside may be nested. Chosen: a report has 4 levels.
const maxDepth = 32

// Twice is the error of OneMeaning for a key that an object has twice.
type Twice struct {
	Key string // as spelled the second time
	At  int    // its offset in bytes
}

// Error implements error. Of the key it has the start alone.
func (t *Twice) Error() string { return fmt.Sprintf("the JSON has the key %.40q twice", t.Key) }

// OneMeaning refuses JSON that two readers can understand in two ways: with a key that an object has twice, in whatever letters,
// because Go's reader takes keys of any case. It also bounds the depth.
func OneMeaning(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := oneValue(decoder, data, 0); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind the JSON")
	}
	return nil
}

func oneValue(decoder *json.Decoder, data []byte, depth int) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("the JSON is nested deeper than %d levels", maxDepth)
	}
	seen := map[string]bool{}
	for decoder.More() {
		if open == '{' {
			before := int(decoder.InputOffset())
			key, err := decoder.Token()
			if err != nil {
				return fmt.Errorf("reading JSON: %w", err)
			}
			name := strings.ToLower(strings.ToUpper(fmt.Sprint(key))) // the long s and the Kelvin sign are letters, too
			if seen[name] {
				return &Twice{Key: fmt.Sprint(key), At: before + bytes.IndexByte(data[before:], '"')}
			}
			seen[name] = true
		}
		if err := oneValue(decoder, data, depth+1); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil { // the closing bracket
		return fmt.Errorf("reading JSON: %w", err)
	}
	return nil
}
