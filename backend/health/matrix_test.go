package health_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/health"
)

var (
	matrixPairs = flag.Int("health.pairs", 2000, "pairs of faults that are planted")
	matrixWell  = flag.Int("health.well", 500, "healthy variants that are judged")
	matrixSeed  = flag.Uint64("health.seed", 1, "what the pairs and variants are chosen by")
)

// hides tells that a fault takes away what the other one shows: nobody can see a cordon on a node that the cluster does not know.
func hides(a, b fault) bool {
	whole := []string{"no node", "no operators yet", "operators not readable", "no version kind", "API away"}
	return a.id == b.id || slices.Contains(whole, a.name) || b.id == "operators-optional" && strings.HasSuffix(a.name, " online")
}

// planted are the faults that some check has to name.
func planted() []fault {
	return slices.DeleteFunc(slices.Concat(faults, wideFaults, sourceFaults), func(f fault) bool { return f.want != check.Warn && f.want != check.Fail })
}

func isNamed(f fault, all map[string]check.Check) bool {
	got := all[f.id]
	return (got.Status == check.Warn || got.Status == check.Fail) && got.Fix.String() != ""
}

// plantBoth returns false where the second fault finds nothing to spoil any more.
func plantBoth(s *health.State, a, b fault) (ok bool) {
	defer func() { ok = recover() == nil }()
	a.spoil(s)
	b.spoil(s)
	return true
}

// TestPairsOfFaults: a fault is named though another one is there, too.
func TestPairsOfFaults(t *testing.T) {
	all := planted()
	r := rand.New(rand.NewPCG(*matrixSeed, 2))
	tried := 0
	for n := 0; tried < *matrixPairs && n < 10**matrixPairs; n++ {
		a, b := all[r.IntN(len(all))], all[r.IntN(len(all))]
		if hides(a, b) || hides(b, a) {
			continue
		}
		s := healthy()
		if !plantBoth(s, a, b) || overwritten(s, a, b) {
			continue
		}
		tried++
		seen := judge(s)
		for _, f := range []fault{a, b} {
			if !isNamed(f, seen) {
				t.Errorf("%q with %q: %s is %s: %s", a.name, b.name, f.id, seen[f.id].Status, seen[f.id].Observed)
			}
		}
	}
	t.Logf("%d pairs of %d faults", tried, len(all))
	if tried < *matrixPairs {
		t.Errorf("only %d pairs could be planted", tried)
	}
}

// overwritten tells that one fault alone leaves the cluster as both do: they replace the same object.
func overwritten(both *health.State, a, b fault) bool {
	for _, f := range []fault{a, b} {
		alone := healthy()
		f.spoil(alone)
		if reflect.DeepEqual(alone, both) {
			return true
		}
	}
	return false
}

// well is a healthy cluster of another size and with other things that pass on their own.
func well(r *rand.Rand) *health.State {
	s := healthy()
	for i := range r.IntN(40) {
		s.Operators = append(s.Operators, operator(fmt.Sprint("operator-", i), "True", "False", "False", ""))
	}
	for i := range r.IntN(250) {
		p := pod([]string{"openshift-x", "plant"}[r.IntN(2)], fmt.Sprint("pod-", i))
		switch r.IntN(5) {
		case 0:
			p.Status.Phase, p.Status.Conditions = "Succeeded", nil
		case 1:
			p.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Minute)}
		case 2:
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job"}}
			p.Status.Phase = "Failed"
		}
		s.Pods = append(s.Pods, p)
	}
	for i := range r.IntN(150) {
		s.Routes = append(s.Routes, route("plant", fmt.Sprint("r", i), fmt.Sprintf("r%d.plant.example", i), "True"))
	}
	for i := range r.IntN(120) {
		whole := days([]float64{30, 60, 365, 1095}[r.IntN(4)])
		left := whole/2 + time.Duration(r.Int64N(int64(whole/2)))
		s.Secrets = append(s.Secrets, secret(fmt.Sprint("secret-", i), now.Add(left-whole), now.Add(left)))
	}
	for range r.IntN(30) { // what a start leaves behind
		s.Wide.Events = append(s.Wide.Events, event("FailedMount", int32(1+r.IntN(60)), fresh(r)))
	}
	for i := range r.IntN(20) {
		d := deployment("plant", fmt.Sprint("d", i), "True", time.Minute)
		if r.IntN(3) == 0 { // scaled to nothing
			d.Spec.Replicas, d.Status.Conditions[0].Status = ptr[int32](0), "False"
		}
		s.Wide.Deployments = append(s.Wide.Deployments, d)
	}
	if r.IntN(2) == 0 { // online
		s.Version.Status.Conditions[3].Status = "True"
	}
	s.Leases["node"] = now.Add(-time.Duration(r.IntN(90)) * time.Second)
	for _, what := range []string{"clients", "install", "etcd-endpoints", "routers"} {
		if r.IntN(4) == 0 { // another OpenShift has none
			s.Wide.Errors[what] = notFound
		}
	}
	r.Shuffle(len(s.Pods), func(i, j int) { s.Pods[i], s.Pods[j] = s.Pods[j], s.Pods[i] })
	return s
}

// fresh is an age at which even many events are over.
func fresh(r *rand.Rand) time.Duration {
	return 5*time.Minute + time.Duration(1+r.IntN(3600))*time.Second
}

func TestHealthyVariantsRaiseNoAlarm(t *testing.T) {
	r := rand.New(rand.NewPCG(*matrixSeed, 3))
	for n := range *matrixWell {
		for id, c := range judge(well(r)) {
			if c.Status == check.Warn || c.Status == check.Fail {
				t.Errorf("variant %d: %s is %s: %s", n, id, c.Status, c.Observed)
			}
		}
	}
}

// TestEachCheckHasAFault: none of the checks is there that no test can make fail, and README.md names each.
func TestEachCheckHasAFault(t *testing.T) {
	rows := table(t)
	could := map[string]bool{"api": true, "pod-gateway": true, "pod-request": true} // by look_test.go, gateway_test.go and wayout_test.go
	for _, f := range planted() {
		could[f.id] = true
	}
	for id := range judge(healthy()) {
		if !could[id] && id != "web-login" && id != "web-canary" && id != "cert-api" { // judged by the code of web-console and cert-api-new
			t.Errorf("no fault makes %s fail", id)
		}
		if !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, "`"+id+"`") }) {
			t.Errorf("README.md does not name %s", id)
		}
	}
	if len(rows) != 25 {
		t.Errorf("README.md has %d rows, want 25", len(rows))
	}
	for _, row := range rows {
		for _, test := range quotes(row, 3) {
			if !strings.HasPrefix(test, "Test") && !slices.ContainsFunc(planted(), func(f fault) bool { return f.name == test }) {
				t.Errorf("README.md names the fault %q, which no test plants", test)
			}
		}
		for _, id := range quotes(row, 2) {
			if _, ok := judge(healthy())[id]; !ok && !strings.Contains(row, "steps") && !strings.Contains(row, "backend/images") {
				t.Errorf("README.md names the check %q, which is none", id)
			}
		}
	}
}
