package health

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLatencyOfAHostilePage(t *testing.T) {
	page := strings.Join([]string{
		`etcd_request_duration_seconds_bucket{operation="get",le="0.1"} 990`,
		`etcd_request_duration_seconds_bucket{operation="get",le="1"} 1000`,
		`etcd_request_duration_seconds_bucket{operation="get",le="+Inf"} 1000`,
		`etcd_request_duration_seconds_bucket{operation="get",le="NaN"} 1e9`,
		`etcd_request_duration_seconds_bucket{operation="get",le="-5"} 1e9`,
		`etcd_request_duration_seconds_bucket{operation="get",le="0.0001"} -1e9`,
		`etcd_request_duration_seconds_bucket{operation="get",le="0.001"} +Inf`,
		`etcd_request_duration_seconds_bucket{operation="get"} 7`,
		`etcd_request_duration_seconds_bucket{le="0.002`, `etcd_request_duration_seconds_bucket{`,
	}, "\n")
	l, err := parseLatency(strings.NewReader(page))
	if err != nil || l.Count != 1000 {
		t.Fatalf("%v, %v", l, err)
	}
	delete(l.Below, "NaN")
	if _, ok := l.percentile99(); ok { // a limit below zero is nonsense, so the page is
		t.Error("a page with a limit of -5 s was taken")
	}
	delete(l.Below, "-5")
	if got, ok := l.percentile99(); !ok || got != 100*time.Millisecond {
		t.Errorf("%s, %t", got, ok)
	}
	if _, err := parseLatency(strings.NewReader(strings.Repeat("x", 2<<20))); err == nil {
		t.Error("a line of 2 MiB was taken")
	}
}

func TestFailedUnits(t *testing.T) {
	got, err := FailedUnits("kubelet.service loaded failed failed Kubernetes Kubelet\n\n  plant.mount loaded failed failed /plant\n")
	if err != nil || !slices.Equal(got, []string{"kubelet.service", "plant.mount"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, hostile := range []string{"Failed to connect to bus", strings.Repeat("x", 300) + ".service loaded"} {
		if got, err := FailedUnits(hostile); err == nil {
			t.Errorf("%.40q gave %v", hostile, got)
		}
	}
	if got, err := FailedUnits(strings.Repeat("a.service x\n", 10000)); err != nil || len(got) != 100 {
		t.Errorf("%d, %v", len(got), err)
	}
}
