package apiserver

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Fault is something that goes wrong with requests of the program under test.
type Fault struct {
	Kind     string `json:"kind"`               // slow, forbidden, conflict, throttled
	Verb     string `json:"verb,omitempty"`     // only this API verb (get, list, create, update, patch, delete, watch); empty: every one
	Resource string `json:"resource,omitempty"` // only this resource (plural); empty: every one
	Millis   int    `json:"millis,omitempty"`   // slow: the delay; throttled: Retry-After, in whole seconds rounded up
	Times    int    `json:"times,omitempty"`    // how many requests it hits; 0: until it is cleared
}

// Counts tells what the program under test asked of the API: "VERB RESOURCE" to a number.
type Counts struct {
	Reads  map[string]int `json:"reads"`
	Writes map[string]int `json:"writes"`
}

// Snapshot is what the gate holds at one moment.
type Snapshot struct {
	Counts Counts  `json:"counts"`
	Faults []Fault `json:"faults"` // those that still have requests to hit
}

// gate stands in front of the API: it counts and, on demand, spoils the requests whose User-Agent begins with "touchdown".
type gate struct {
	mu     sync.Mutex
	faults []Fault
	counts Counts
	frozen bool
	ready  chan struct{} // closed once the server is ready
	hold   bool          // keep early requests waiting for that
}

func newGate(hold bool) *gate {
	return &gate{counts: Counts{Reads: map[string]int{}, Writes: map[string]int{}}, ready: make(chan struct{}), hold: hold}
}

func (g *gate) wrap(next http.Handler, resolver request.RequestInfoResolver) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.early(r)
		if !strings.HasPrefix(r.UserAgent(), "touchdown") {
			next.ServeHTTP(w, r)
			return
		}
		info, err := resolver.NewRequestInfo(r)
		if err != nil {
			next.ServeHTTP(w, r)
			return
		}
		fault := g.meet(info, r.Method)
		if fault == nil {
			next.ServeHTTP(w, r)
			return
		}
		if fault.Kind == "slow" {
			wait(r, time.Duration(fault.Millis)*time.Millisecond)
			next.ServeHTTP(w, r)
			return
		}
		refuse(w, *fault, info)
	})
}

// early keeps a request that came before the server was ready. The server itself sends it away for 5 seconds, which is life, and too long for a bench without delays.
func (g *gate) early(r *http.Request) {
	agent := r.UserAgent()
	if !g.hold || !strings.HasPrefix(agent, "touchdown") && !strings.HasPrefix(agent, "bench-stand-ins") || !strings.HasPrefix(r.URL.Path, "/api") {
		return
	}
	select {
	case <-g.ready:
	case <-r.Context().Done():
	case <-time.After(10 * time.Second):
	}
}

// meet counts a request and takes the first fault that fits it.
func (g *gate) meet(info *request.RequestInfo, method string) *Fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.frozen {
		// The supervisor has taken the counts and is about to kill this process: a request that came later must not be answered.
		panic(http.ErrAbortHandler)
	}
	resource := info.Resource
	if resource == "" {
		resource = info.Path
	}
	write := method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch || method == http.MethodDelete
	if write {
		g.counts.Writes[method+" "+resource]++
	} else {
		g.counts.Reads[strings.ToUpper(info.Verb)+" "+resource]++
	}
	for i, f := range g.faults {
		if f.Verb != "" && f.Verb != info.Verb || f.Resource != "" && f.Resource != info.Resource || f.Kind == "conflict" && !write {
			continue
		}
		if f.Times == 1 {
			g.faults = append(g.faults[:i], g.faults[i+1:]...)
		} else if f.Times > 1 {
			g.faults[i].Times--
		}
		return &f
	}
	return nil
}

func wait(r *http.Request, d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}

func refuse(w http.ResponseWriter, f Fault, info *request.RequestInfo) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Details: &metav1.StatusDetails{Name: info.Name, Group: info.APIGroup, Kind: info.Resource},
	}
	what := fmt.Sprintf("%s.%s %q", info.Resource, info.APIGroup, info.Name)
	switch f.Kind {
	case "forbidden":
		status.Code, status.Reason = http.StatusForbidden, metav1.StatusReasonForbidden
		status.Message = what + " is forbidden: User \"system:admin\" cannot " + info.Verb + " resource"
	case "conflict":
		status.Code, status.Reason = http.StatusConflict, metav1.StatusReasonConflict
		status.Message = "Operation cannot be fulfilled on " + what + ": the object has been modified; please apply your changes to the latest version and try again"
	case "throttled":
		seconds := max(1, (f.Millis+999)/1000)
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		status.Code, status.Reason, status.Message = http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "Too many requests, please try again later."
		status.Details.RetryAfterSeconds = int32(seconds)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}

// listen serves the gate's controls on a socket: PUT /faults replaces the list, GET /snapshot reads, POST /freeze reads for the last time.
func (g *gate) listen(path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("removing the old control socket: %w", err)
	}
	socket, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("opening the control socket: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /faults", func(w http.ResponseWriter, r *http.Request) {
		var faults []Fault
		if err := json.NewDecoder(r.Body).Decode(&faults); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.faults = faults
	})
	snapshot := func(freeze bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.frozen = g.frozen || freeze
			_ = json.NewEncoder(w).Encode(Snapshot{Counts: g.counts, Faults: g.faults})
		}
	}
	mux.HandleFunc("GET /snapshot", snapshot(false))
	mux.HandleFunc("POST /freeze", snapshot(true))
	go func() { _ = http.Serve(socket, mux) }()
	return nil
}
