package network

/*
#include <nmstate.h>
#include <stdlib.h>
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"unsafe"
)

// compare works offline: it tells what applying a state would change in the present one, as a state that holds the changes alone.
// The Go binding has no call for it.
func (nmstateLibrary) compare(ctx context.Context, desired, present []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	want, have := C.CString(string(desired)), C.CString(string(present))
	defer C.free(unsafe.Pointer(want))
	defer C.free(unsafe.Pointer(have))
	var changes, kind, text *C.char
	rc := C.nmstate_generate_differences(want, have, &changes, &kind, &text)
	defer func() {
		for _, s := range []*C.char{changes, kind, text} {
			C.nmstate_cstring_free(s) // it takes NULL, too
		}
	}()
	if rc != C.NMSTATE_PASS {
		return nil, explain(comparing, fmt.Errorf("rc: %d, err_msg: %s, err_kind: %s", rc, C.GoString(text), C.GoString(kind)), desired)
	}
	if changes == nil {
		return nil, errors.New("comparing the network settings: nmstate says nothing")
	}
	return []byte(C.GoString(changes)), nil
}
