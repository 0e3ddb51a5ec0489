package operators

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"touchdown/backend/kube"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// bed is a cluster, with real operators or with their stand-ins, and what is measured on it.
type bed struct {
	*bench.Cluster
	t     *testing.T
	c     *kube.Cluster
	kube  kubernetes.Interface // where operators are real
	real  []string
	saved [][]byte
	begun time.Time

	mu   sync.Mutex
	seen map[string]string // what was measured, by the name of its question
}

// newBed starts a cluster and waits until its operators roll nothing out. They begin with nothing of what they would have made at the
// installation, so that is made first, without delays.
func newBed(t *testing.T, real ...string) *bed {
	t.Helper()
	return newBedOf(t, bench.Options{Real: real})
}

func newBedOf(t *testing.T, o bench.Options) *bed {
	t.Helper()
	real := o.Real
	for _, name := range real {
		program(t, name)
	}
	b := &bed{t: t, real: real, begun: time.Now(), seen: map[string]string{}, Cluster: bench.Start(t, o)}
	c, err := kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	fatal(t, err)
	last := ""
	b.c = c.WithProgress(func(p kube.Progress) {
		if p.Waiting.String() != last {
			last = p.Waiting.String()
			b.log("waiting for %s", p.Waiting)
		}
	})
	if len(real) > 0 {
		b.kube = prepare(t, b.Cluster).kube
	}
	for _, name := range real {
		start[name](t, b.Cluster)
	}
	if slices.Contains(real, "authentication") {
		b.runsWith(b.Domain)
	} else {
		b.waitRolledOut()
	}
	fatal(t, b.SetDelay("life"))
	return b
}

// start says how each operator is started.
var start = map[string]func(*testing.T, *bench.Cluster){
	"kube-apiserver": runKubeAPIServer, "ingress": runIngress, "authentication": runAuthentication, "console": runConsole,
	"machine-config": runMachineConfigController, "router": runRouter, "oauth-server": runOAuthServer,
}

func (b *bed) log(format string, args ...any) {
	b.t.Helper()
	b.t.Logf("%6.1fs %s", time.Since(b.begun).Seconds(), fmt.Sprintf(format, args...))
}

func (b *bed) save(_ kube.Ref, original []byte) error {
	b.saved = append(b.saved, original)
	return nil
}

// saw keeps the answer to a question.
func (b *bed) saw(question string, answer any) {
	b.t.Helper()
	if _, ok := questions[question]; !ok {
		b.t.Errorf("question %q is not in the table", question)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen[question] = fmt.Sprint(answer)
	b.log("%s: %v", question, answer)
}

func (b *bed) state() bench.State {
	b.t.Helper()
	var s bench.State
	wait.Until(b.t, "the bench to tell its state", func() (err error) {
		s, err = b.State()
		return err
	})
	return s
}

// difference is a line of the table.
type difference struct {
	What    string `json:"what"`
	Real    string `json:"real"`
	StandIn string `json:"standIn"`
	Why     string `json:"why"`
	Verdict bool   `json:"changesVerdict"`
}

// result is what is left in .cache/bench/real-operators.json.
type result struct {
	Ran         []partRan         `json:"ran"` // every real part of this run
	NotRun      map[string]string `json:"notRun"`
	Compared    []string          `json:"compared"` // those in the move that is compared with the stand-ins
	Differences []difference      `json:"differences"`
	Real        map[string]string `json:"real"`
	StandIns    map[string]string `json:"standIns"`
	Seconds     int               `json:"seconds"`
}

// compared are the operators that are real in the move of TestRealOperators.
var compared = []string{"kube-apiserver", "ingress", "router", "console"}

// TestRealOperators plays the same scenario on a cluster with real operators and on one with stand-ins, side by side. Each
// difference has to have its reason in the table of questions, and none may be of the product's verdict.
func TestRealOperators(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	beds := make([]*bed, 2)
	t.Run("both", func(t *testing.T) {
		for i, real := range [][]string{compared, nil} {
			t.Run([]string{"real", "stand-ins"}[i], func(t *testing.T) {
				t.Parallel()
				b := newBed(t, real...)
				beds[i] = b
				scenario(b)
			})
		}
	})
	if t.Failed() || beds[0] == nil || beds[1] == nil {
		return
	}
	r := result{Compared: compared, Real: beds[0].seen, StandIns: beds[1].seen, Seconds: int(time.Since(begun).Seconds())}
	r.Differences = compare(t, r.Real, r.StandIns)
	fatal(t, r.write())
	for _, d := range r.Differences {
		fmt.Printf("%s\n  real: %s\n  stand-in: %s\n  %s\n", d.What, d.Real, d.StandIn, d.Why)
	}
	fmt.Printf("%d questions, %d differences, %d s\n", len(questions), len(r.Differences), r.Seconds)
}
