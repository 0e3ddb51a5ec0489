package network

import (
	"context"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// bootTime is how long to wait for a boot at most; from the first connection to br-ex it takes seconds, and on a busy machine many times that.
// Only a configure-ovs that hangs with a default route makes it the whole time.
const bootTime = 2 * time.Minute

// WaitForBoot waits while the boot is about to build br-ex: a trial of settings in the middle of it would be taken apart by
// configure-ovs. It does not wait for a configure-ovs that found no default route and looks for one again and again.
func (n *Network) WaitForBoot(ctx context.Context) error {
	return until(ctx, bootTime, func() (bool, error) {
		p, err := bridgeProfile(ctx, n.manager)
		if err != nil || p != nil {
			return p != nil, err
		}
		starting, err := n.manager.starting(ctx)
		if err != nil || starting {
			return false, err
		}
		live, err := n.library.show(ctx, false)
		if err != nil {
			return false, err
		}
		routed := live.Routes != nil && len(defaults(live.Routes.Running, "")) > 0
		return !routed || !building(ctx, n.host), nil
	})
}

// building tells whether configure-ovs is at work, or will be as soon as what it waits for is there.
func building(ctx context.Context, m *host.Machine) bool {
	out, err := m.Run(ctx, "systemctl", "show", "--property=ActiveState,Job", configureOVS)
	return err == nil && (strings.Contains(out, "ActiveState=activating") || strings.Contains(out, "Job="))
}

// hangs is how long br-ex may be on its way up before it is started again; a healthy one takes a second.
const hangs = 6 * time.Second

// NoBridge is the code of the Problem that br-ex was started again and did not come up.
const NoBridge = "NET-BREX"

// Revive starts br-ex again when its activation hangs or failed, which happens after an unclean boot: one failed activation
// is not final. It does nothing to a br-ex that works or is not there, and reports whether it did something.
func (n *Network) Revive(ctx context.Context) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return revive(ctx, n.manager)
}

func revive(ctx context.Context, m manager) (bool, error) {
	p, err := bridgeProfile(ctx, m)
	if err != nil || p == nil || p.Active {
		return false, err
	}
	err = until(ctx, hangs, func() (bool, error) {
		p, err = bridgeProfile(ctx, m)
		return p == nil || p.Active, err
	})
	if err != nil || p == nil || p.Active {
		return false, err
	}
	if err := m.activate(ctx, p.UUID); err != nil {
		return false, err
	}
	err = until(ctx, activateBack, func() (bool, error) {
		p, err = bridgeProfile(ctx, m)
		return p != nil && p.Active, err
	})
	if err == nil && (p == nil || !p.Active) {
		err = &problem.Problem{Code: NoBridge, Summary: message.F("The bridge %s does not come up.", Bridge), Fix: message.T("Check the cable; then reboot the node.")}
	}
	return true, err
}

// bridgeProfile is the profile of br-ex's own interface, nil without one.
func bridgeProfile(ctx context.Context, m manager) (*profile, error) {
	profiles, err := m.profiles(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range profiles {
		if p.Type == "ovs-interface" && p.Interface == Bridge {
			return &p, nil
		}
	}
	return nil, nil
}

// configureOVS is OpenShift's unit that builds br-ex out of the port's profile.
const configureOVS = "ovs-configuration.service"

// BuildBridge has br-ex built where there is none, because the boot found neither lease nor static address. configure-ovs
// tries again automatically only after 15 minutes, for which nobody at a console waits, so its unit is restarted; that is
// done only when settings are kept, since it restarts connections and would break a trial. It waits until br-ex is there,
// and does nothing where it is, or where the machine has no such unit (no OpenShift on it).
func (n *Network) BuildBridge(ctx context.Context, timeout time.Duration) error {
	there := func() (bool, error) {
		p, err := bridgeProfile(ctx, n.manager)
		return p != nil && p.Active, err
	}
	if ok, err := there(); ok || err != nil {
		return err
	}
	if _, err := n.host.Run(ctx, "systemctl", "cat", configureOVS); err != nil {
		return nil //nolint:nilerr // not a node of OpenShift
	}
	if _, err := n.host.Run(ctx, "systemctl", "restart", "--no-block", configureOVS); err != nil {
		return noBridge(err)
	}
	if err := until(ctx, timeout, there); err != nil {
		return err
	}
	if ok, err := there(); !ok || err != nil {
		return noBridge(err)
	}
	return nil
}

func noBridge(err error) error {
	return &problem.Problem{
		Code: "NET-BRDG", Summary: message.F("OpenShift did not build its bridge %s on the new settings.", Bridge),
		Fix: message.T("Reboot the node: the settings are on its disk."), Err: err,
	}
}
