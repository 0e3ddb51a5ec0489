package run

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"touchdown/test/bench/controlplane/internal/apiserver"
	"touchdown/test/bench/controlplane/internal/operators"
)

// fault is one of the requests' faults, or down (for a few seconds), degraded or stuck (an operator), or clear (all of them).
type fault struct {
	apiserver.Fault
	Operator string  `json:"operator,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"`
}

// state is the answer to GET /state.
type state struct {
	operators.Report
	apiserver.Counts
	ReadTotal  int  `json:"readTotal"`
	WriteTotal int  `json:"writeTotal"`
	Restarts   int  `json:"restarts"` // of the server: roll-outs, outages on demand, crashes
	Up         bool `json:"up"`
}

func (b *bench) controlPath() string { return filepath.Join(b.State, "control.sock") }

// control serves the bench's controls.
func (b *bench) control(ctx context.Context, env *operators.Env) (*http.Server, error) {
	if err := os.Remove(b.controlPath()); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("removing the old control socket: %w", err)
	}
	l, err := net.Listen("unix", b.controlPath())
	if err != nil {
		return nil, fmt.Errorf("opening the control socket: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /state", b.getState)
	mux.HandleFunc("POST /speed", b.postSpeed)
	mux.HandleFunc("POST /router", func(w http.ResponseWriter, r *http.Request) {
		var p operators.RouterPod
		err := json.NewDecoder(r.Body).Decode(&p)
		if err == nil {
			err = env.RouterIs(p)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("POST /fault", func(w http.ResponseWriter, r *http.Request) {
		var f fault
		if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := b.setFault(ctx, f); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }()
	return server, nil
}

func (b *bench) getState(w http.ResponseWriter, _ *http.Request) {
	s := state{Report: b.stats.Report(), Up: b.child.ready()}
	s.Counts, s.Restarts = b.child.counts()
	for _, n := range s.Reads {
		s.ReadTotal += n
	}
	for _, n := range s.Writes {
		s.WriteTotal += n
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s)
}

func (b *bench) postSpeed(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Delay string `json:"delay"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	speed, err := operators.ParsePace(body.Delay)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.pace.Set(speed)
}

func (b *bench) setFault(ctx context.Context, f fault) error {
	b.log.Info("fault set", "fault", f)
	switch f.Kind {
	case "slow", "forbidden", "conflict", "throttled":
		return b.child.addFault(f.Fault)
	case "down":
		down := make(chan struct{})
		go b.child.outage(ctx, time.Duration(f.Seconds*float64(time.Second)), down)
		<-down // who asked for it finds no server any more
	case "degraded":
		b.faults.Degrade(f.Operator)
	case "stuck":
		b.faults.Stick(f.Operator)
	case "clear":
		b.faults.Clear()
		return b.child.clearFaults()
	default:
		return fmt.Errorf("unknown fault %q", f.Kind)
	}
	return nil
}
