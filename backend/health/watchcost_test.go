package health_test

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"touchdown/test/wait"
)

// cpuTime is what this process has used.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// manyMetrics are as many lines as an API server has: some thirty thousand, 4 MB.
func manyMetrics() []byte {
	var text bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&text, "apiserver_request_duration_seconds_bucket{component=\"apiserver\",group=\"\",resource=\"r%d\",scope=\"namespace\",verb=\"LIST\",le=\"0.05\"} 90\n", i)
		fmt.Fprintf(&text, "etcd_request_duration_seconds_bucket{operation=\"get\",type=\"t%d\",le=\"0.05\"} 100\n", i)
		fmt.Fprintf(&text, "etcd_request_duration_seconds_bucket{operation=\"get\",type=\"t%d\",le=\"+Inf\"} 100\n", i)
	}
	return text.Bytes()
}

// BenchmarkWatch measures what the live page costs in a minute at a cluster of the usual size, 34 operators and 250 pods: at rest, and while
// each second a pod changes. An operation is a minute of the Watcher's clock. The processor time is that of the fake API, too.
func BenchmarkWatch(b *testing.B) {
	for _, changes := range []int{0, 60} {
		b.Run(fmt.Sprint("changes=", changes), func(b *testing.B) {
			p, cluster := newPlane(b)
			for i := range 34 {
				o := operator(fmt.Sprint("operator-", i), "True", "False", "False", "")
				p.put(b, "clusteroperators", &o)
			}
			var pods []corev1.Pod
			for i := range 250 {
				pods = append(pods, pod("openshift-x", fmt.Sprint("pod-", i)))
				p.put(b, "pods", &pods[i])
			}
			p.metrics = manyMetrics()
			clock := &handClock{now: now}
			w := watching(b, cluster, clock)
			wait.Until(b, "the first verdict", func() bool { return len(w.last().Counts) > 0 })
			clock.move(b)
			requests, used, begun := p.count(""), cpuTime(b), clock.time()
			for b.Loop() {
				for i := range changes {
					rested := clock.rests()
					p.put(b, "pods", &pods[i])
					wait.Until(b, "the change", func() bool { return clock.rests() > rested })
				}
				for end := clock.time().Add(time.Minute); clock.time().Before(end); {
					clock.move(b)
				}
			}
			minutes := clock.time().Sub(begun).Minutes()
			b.ReportMetric(float64(p.count("")-requests)/minutes, "requests/min")
			b.ReportMetric((cpuTime(b)-used).Seconds()/minutes, "cpu-s/min")
			b.ReportMetric((cpuTime(b)-used).Seconds()/minutes/60*100, "%-of-a-core")
		})
	}
}
