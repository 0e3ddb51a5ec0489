package site

import "slices"

// FaultKind is what goes wrong with something that the registry hands out.
type FaultKind int

// The faults of manifests and blobs.
const (
	Changed     FaultKind = iota // one bit, or the end, is not what the digest says
	Stops                        // the connection ends in the middle of a blob; a client may ask for the rest
	Unavailable                  // 503
	Unknown                      // 404: no such manifest or blob
)

// What a fault is about when it is not one name.
const (
	AnyManifest = "any manifest"
	AnyBlob     = "any blob"
	AnyLayer    = "any layer"
)

// Fault is something that the registry does wrong.
type Fault struct {
	Kind  FaultKind
	Of    string // digest of a blob, repository:tag or repository@digest of a manifest, or one of the three above
	Times int    // how often; 0: for ever
}

// is tells the kind; no fault is of none.
func (f *Fault) is(kind FaultKind) bool { return f != nil && f.Kind == kind }

// Break makes the registry do something wrong from now on.
func (r *Registry) Break(f Fault) { r.set(func() { r.faults = append(r.faults, &f) }) }

// ClearFaults ends all faults.
func (r *Registry) ClearFaults() { r.set(func() { r.faults = nil }) }

// trouble finds the first fault of one of the kinds that is about the thing under one of its names, and uses it up.
func (r *Registry) trouble(names []string, kinds ...FaultKind) *Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, f := range r.faults {
		if !slices.Contains(names, f.Of) || !slices.Contains(kinds, f.Kind) {
			continue
		}
		if f.Times == 1 {
			r.faults = slices.Delete(r.faults, n, n+1)
		} else if f.Times > 1 {
			f.Times--
		}
		return f
	}
	return nil
}
