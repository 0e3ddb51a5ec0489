package health

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// Latency is how long the API server waited for its database since it started.
type Latency struct {
	Count float64            // requests
	Below map[string]float64 // how many took at most so many seconds, by the text of the limit; "+Inf" is all
}

// The metric that the API server keeps of its requests to etcd, and how much of its page is read.
const (
	databaseMetric = "etcd_request_duration_seconds_bucket"
	mostMetrics    = 64 << 20
	leastRequests  = 1000 // fewer are those of a start
	slowDatabase   = 500 * time.Millisecond
)

// readLatency reads the page line by line: it has tens of thousands of lines, and all but a few hundred are of no use.
func (w *Wide) readLatency(ctx context.Context, c *kube.Cluster) error {
	page, err := c.Core.RESTClient().Get().AbsPath("/metrics").Stream(ctx)
	if err != nil {
		return fmt.Errorf("reading the API server's metrics: %w", err)
	}
	defer func() { _ = page.Close() }()
	w.Database, err = parseLatency(io.LimitReader(page, mostMetrics))
	return err
}

func parseLatency(page io.Reader) (Latency, error) {
	l := Latency{Below: map[string]float64{}}
	lines := bufio.NewScanner(page)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), databaseMetric+"{")
		if !ok {
			continue
		}
		labels, value, ok := strings.Cut(rest, "} ")
		_, limit, named := strings.Cut(labels, `le="`)
		limit, _, closed := strings.Cut(limit, `"`)
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if !ok || !named || !closed || err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
			continue
		}
		if _, known := l.Below[limit]; !known && len(l.Below) > 100 {
			continue // no histogram of Kubernetes has so many limits
		}
		l.Below[limit] += n
	}
	if err := lines.Err(); err != nil {
		return l, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	l.Count = l.Below["+Inf"]
	return l, nil
}

// percentile99 is the smallest limit that 99 of 100 requests kept to; false when there is none.
func (l Latency) percentile99() (time.Duration, bool) {
	best := math.Inf(1)
	for text, n := range l.Below {
		if limit, err := strconv.ParseFloat(text, 64); err == nil && n >= 0.99*l.Count {
			best = min(best, limit)
		}
	}
	if math.IsInf(best, 1) || math.IsNaN(best) || best < 0 || best > 3600 {
		return 0, false
	}
	return time.Duration(best * float64(time.Second)), true
}

func judgeLatency(s *State) check.Check {
	c := check.Check{
		ID: "etcd-latency", Title: message.T("Speed of the cluster database (etcd)"), Expected: message.T("99 of 100 requests within 500 ms"),
		Source: message.T("the API server's metric etcd_request_duration_seconds since its start; Kubernetes' goal for a whole call is 1 s"),
		Fix:    message.T("Check the disk: etcd waits for it at each change. Move other work off this disk."),
	}
	if c, no := unreadWide(s, c, "latency"); no {
		return lenient(c)
	}
	l := s.Wide.Database
	if l.Count < leastRequests {
		c.Status, c.Observed, c.Fix = check.Skip, message.F("not judged: %.0f requests since the API server's start", l.Count), message.Text{}
		return c
	}
	limit, ok := l.percentile99()
	switch {
	case !ok:
		c.Status, c.Observed = check.Warn, message.T("1 of 100 requests takes longer than the API server measures")
	case limit > slowDatabase:
		c.Status, c.Observed = check.Warn, message.F("99 of 100 requests within %s", limit.String())
	default:
		c.Status, c.Observed, c.Fix = check.Pass, message.F("99 of 100 requests within %s", limit.String()), message.Text{}
	}
	return c
}
