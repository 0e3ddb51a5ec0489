package network

import (
	"context"
	"fmt"
	"path"
	"slices"
	"time"
)

// asBefore waits until the network is what it was and returns what is not.
func (b puttingBack) asBefore(ctx context.Context, timeout time.Duration) ([]string, error) {
	boot, err := b.host.BootID()
	if err != nil {
		return nil, fmt.Errorf("reading the boot's id: %w", err)
	}
	// Another boot has other profiles in memory.
	sameBoot := boot == b.o.Boot
	var left []string
	err = until(ctx, timeout, func() (bool, error) {
		now, err := readConfigured(ctx, b.Network)
		if err != nil {
			return false, err
		}
		left = differences(b.o.own(now), now)
		for _, r := range b.o.strays(now) {
			left = append(left, fmt.Sprintf("route over %s by %s", r.Interface, r.Gateway))
		}
		profiles, err := b.manager.profiles(ctx)
		if err != nil {
			return false, err
		}
		if sameBoot {
			left = append(left, b.o.idle(profiles)...)
		}
		return len(left) == 0, nil
	})
	return left, err
}

// strays are default routes that were not there before, over whatever interface: one over a storage port may have been.
func (o *originals) strays(now *state) []route {
	if now.Routes == nil {
		return nil
	}
	own := o.own(now)
	return slices.DeleteFunc(defaults(now.Routes.Config, ""), func(r route) bool { return o.Before.Seen.has(r) || own.has(r) })
}

// idle names the profiles that ran before and do not run now, and those in memory that are new; both are meant for one boot.
func (o *originals) idle(profiles []profile) []string {
	var left []string
	known := map[string]bool{}
	for _, f := range o.Files {
		known[f.UUID] = true
	}
	for _, p := range profiles {
		if o.Active[p.UUID] && !p.Active && !p.Activating {
			left = append(left, p.ID+" does not run")
		}
		if !known[p.UUID] && path.Dir(p.File) == memoryDir && p.Type != "loopback" {
			left = append(left, p.ID+" is new")
		}
	}
	return left
}

// The pauses of until: what is over soon is seen at once, and what takes long is not asked for so often that the questions slow it down
// (eleven calls to NetworkManager for four profiles).
const (
	firstPause = 50 * time.Millisecond
	mostPause  = 500 * time.Millisecond
)

// until asks again and again whether something is so; it returns no error at the timeout.
func until(ctx context.Context, timeout time.Duration, ask func() (bool, error)) error {
	end := time.Now().Add(timeout)
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		ok, err := ask()
		if ok || err != nil || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
