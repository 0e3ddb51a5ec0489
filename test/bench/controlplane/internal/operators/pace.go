package operators

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// Pace turns durations of life into durations of a test. Its factor can change while someone sleeps.
type Pace struct{ millis atomic.Int64 } // a thousand times the speed; 0: no delay at all

// ParsePace reads "zero", "life" or how many times faster than life.
func ParsePace(s string) (float64, error) {
	switch s {
	case "zero":
		return 0, nil
	case "life":
		return 1, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f <= 0 {
		return 0, fmt.Errorf("delay %q is not zero, life or a positive number", s)
	}
	return f, nil
}

// Set changes the speed: 1 is life, 60 a minute in a second, 0 no delay.
func (p *Pace) Set(speed float64) { p.millis.Store(int64(speed * 1000)) }

// None says whether there is no delay at all.
func (p *Pace) None() bool { return p.millis.Load() == 0 }

// Sleep waits for d of life.
func (p *Pace) Sleep(ctx context.Context, d time.Duration) error {
	const tick = 50 * time.Millisecond
	for left := d; left > 0; {
		speed := float64(p.millis.Load()) / 1000
		if speed == 0 {
			return ctx.Err()
		}
		step := min(tick, time.Duration(float64(left)/speed)+time.Millisecond)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(step):
		}
		left -= time.Duration(float64(step) * speed)
	}
	return ctx.Err()
}

// coalesce is how long machine-config-controller looks for further changes even without delays.
const coalesce = 150 * time.Millisecond

// Durations of life. None is measured on a cluster: all are modelled or seen with a real operator beside our own node, from the sources named in the domain notes where there is one.
const (
	observe          = 2 * time.Second        // a change is seen and is in the operand's ConfigMaps; modelled
	newRevisionIn    = 24 * time.Second       // all of a revision is copied: 24 to 33 s from the write, with the real operator of 4.21
	installer        = 36 * time.Second       // an installer pod waits 30 s for others before it installs (library-go, installerpod/cmd.go, 4.14 to 4.21); its start is modelled
	minReady         = 30 * time.Second       // a server is ready before its operator goes on (cluster-kube-apiserver-operator, starter.go, WithMinReadyDuration)
	apiOutage        = 55 * time.Second       // single node: O(60 s) of outage a revision with the start itself (enhancement kube-apiserver/startup-monitor)
	fallback         = 5 * time.Minute        // the startup monitor gives a revision this long before it goes back (same enhancement)
	certSync         = 10 * time.Second       // cert-syncer copies a Secret that is in use; modelled
	oauthMetadata    = 6 * time.Second        // from the admission of the OAuth route's host to kube-apiserver's copy of the metadata, with the real operators of 4.21
	authRollOut      = 150 * time.Second      // the slowest of them (ZTPFW calls it a troublemaker); modelled
	consoleRollOut   = 60 * time.Second       // modelled
	routerEnds       = 45 * time.Second       // ROUTER_GRACEFUL_SHUTDOWN_DELAY, which its operator leaves: it serves, and admits nothing (openshift/router dc4c01d494f5, pkg/cmd/infra/router/template.go, Run)
	routerDrains     = 30 * time.Second       // at most, while haproxy has connections left (images/router/haproxy/reload-haproxy there); without any it is less than a second
	routerStarts     = 15 * time.Second       // the scheduler looks again, 10 s at most, the pod starts, modelled, and the router is ready after 0.6 s, by TestRouter
	routerReady      = 30 * time.Second       // minReadySeconds of its Deployment: it serves, and its roll-out is not over (cluster-ingress-operator, deployment.go)
	kcmOutage        = 30 * time.Second       // kube-controller-manager is away; modelled
	openshiftRollOut = 90 * time.Second       // openshift-apiserver; modelled
	routeOwner       = 20 * time.Second       // an operator misses its route; modelled
	admit            = 300 * time.Millisecond // router admits a route; modelled
	render           = 10 * time.Second       // machine-config-controller renders; modelled
	nodeUpdate       = 60 * time.Second       // machine-config-daemon applies without reboot; modelled
	nodeReboot       = 5 * time.Minute        // drain, reboot, return; modelled
)
