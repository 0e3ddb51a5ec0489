package ledger

import (
	"slices"

	"touchdown/backend/value"
)

// ReportKeys reads a ledger from outside and returns the keys with which a machine signs its reports, the newest last: one for each
// time that it was sealed with another key. A serial number that is not there has none.
func ReportKeys(path, serial string) (keys []string, err error) {
	_, err = scan(path, func(_ string, line []byte, e Entry) error {
		if err := value.OneMeaning(line); err != nil {
			return err
		}
		if key := e.ReportKey; key != "" && serial != "" && e.Serial == serial {
			keys = append(slices.DeleteFunc(keys, func(k string) bool { return k == key }), key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}
