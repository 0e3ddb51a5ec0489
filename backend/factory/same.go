package factory

import (
	"bytes"
	"encoding/json"
)

// same compares two trees as JSON: the API's decoder makes other number types than the YAML parser.
func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
