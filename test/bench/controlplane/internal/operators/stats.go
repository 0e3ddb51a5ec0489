package operators

import "sync"

// RollOut counts the roll-outs of one operator.
type RollOut struct {
	Running int `json:"running"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
}

// Revision is where kube-apiserver is between revisions.
type Revision struct {
	Current int32 `json:"current"`
	Target  int32 `json:"target"`
	Latest  int32 `json:"latest"`
}

// Stats is what the stand-ins have done since they started.
type Stats struct {
	mu       sync.Mutex
	rollOuts map[string]RollOut
	renders  int
	reboots  int
	revision Revision
	ran      map[string]bool
}

// NewStats returns empty ones.
func NewStats() *Stats { return &Stats{rollOuts: map[string]RollOut{}, ran: map[string]bool{}} }

// Report is a copy of the numbers.
type Report struct {
	Revision Revision           `json:"revision"`
	RollOuts map[string]RollOut `json:"rollOuts"`
	Renders  int                `json:"renders"`
	Reboots  int                `json:"reboots"` // on a real node also those that are only begun
}

// Report returns the numbers of this moment.
func (s *Stats) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{Revision: s.revision, Renders: s.renders, Reboots: s.reboots, RollOuts: map[string]RollOut{}}
	for name, n := range s.rollOuts {
		r.RollOuts[name] = n
	}
	return r
}

func (s *Stats) begin(operator string) { s.change(operator, RollOut{Running: 1}) }
func (s *Stats) done(operator string)  { s.change(operator, RollOut{Running: -1, Done: 1}) }
func (s *Stats) fail(operator string)  { s.change(operator, RollOut{Running: -1, Failed: 1}) }

func (s *Stats) change(operator string, by RollOut) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rollOuts[operator]
	s.rollOuts[operator] = RollOut{Running: r.Running + by.Running, Done: r.Done + by.Done, Failed: r.Failed + by.Failed}
}

func (s *Stats) rebooted() { s.mu.Lock(); defer s.mu.Unlock(); s.reboots++ }

func (s *Stats) rendered() { s.mu.Lock(); defer s.mu.Unlock(); s.renders++ }

func (s *Stats) setRevision(r Revision) { s.mu.Lock(); defer s.mu.Unlock(); s.revision = r }

func (s *Stats) hasRun(name string) { s.mu.Lock(); defer s.mu.Unlock(); s.ran[name] = true }

// started says whether each stand-in has looked at the cluster once.
func (s *Stats) started() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"kube-apiserver", kasConfig, kcm, "openshift-apiserver", "authentication", "console", "ingress", "routes", "machine-config"} {
		if !s.ran[name] {
			return false
		}
	}
	return true
}
