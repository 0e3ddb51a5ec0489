package network

import (
	"context"
	"net/netip"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// manager is what NetworkManager does for us that nmstate has no words for.
type manager interface {
	checkpoints(ctx context.Context) ([]checkpoint, error)
	extend(ctx context.Context, path string, by time.Duration) error
	destroy(ctx context.Context, path string) error
	rollback(ctx context.Context, path string) error
	profiles(ctx context.Context) ([]profile, error)
	reload(ctx context.Context) error
	activate(ctx context.Context, uuid string) error
	starting(ctx context.Context) (bool, error)
	remove(ctx context.Context, uuid string) error
}

// checkpoint is a state to which NetworkManager goes back automatically.
type checkpoint struct {
	Path    string
	Created time.Duration // since the machine booted
	Left    time.Duration // until it goes back; 0: it does not
}

// profile is a connection that NetworkManager knows.
type profile struct {
	UUID, ID, Interface, Type, File string
	Fixed                           []netip.Prefix // addresses that it has itself
	Active                          bool           // and fully so
	Activating                      bool
}

// external is the flag of what is not a profile but NetworkManager's own picture of a device that another program made: a bridge of pods,
// loopback (NMSettingsConnectionFlags, since NetworkManager 1.26). To delete that takes the device down.
const external = 0x8

// Names of NetworkManager's interface on the bus.
const (
	busName      = "org.freedesktop.NetworkManager"
	busPath      = "/org/freedesktop/NetworkManager"
	busSettings  = busName + ".Settings"
	settingsPath = busPath + "/Settings"
)

// networkManager is NetworkManager on the system bus; off says why there is none.
type networkManager struct{ off error }

// ask opens the bus for one question, which may take many calls: NetworkManager and the bus itself may have been restarted since the last one.
func (m networkManager) ask(ctx context.Context, question func(bus) error) error {
	if m.off != nil {
		return m.off
	}
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return lost(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	return question(bus{ctx, conn})
}

// call asks a question of a single call.
func (m networkManager) call(ctx context.Context, path, method string, out []any, args ...any) error {
	return m.ask(ctx, func(b bus) error { return b.call(path, method, out, args...) })
}

// property reads one value of a known type; a missing one is the zero value.
func property[T any](props map[string]dbus.Variant, name string) T {
	v, _ := props[name].Value().(T)
	return v
}

func (m networkManager) checkpoints(ctx context.Context) (found []checkpoint, err error) {
	err = m.ask(ctx, func(b bus) error {
		props, err := b.properties(busPath, busName)
		if err != nil {
			return err
		}
		for _, path := range property[[]dbus.ObjectPath](props, "Checkpoints") {
			p, err := b.properties(string(path), busName+".Checkpoint")
			switch {
			case gone(err):
				continue
			case err != nil:
				return err
			}
			c := checkpoint{Path: string(path), Created: time.Duration(property[int64](p, "Created")) * time.Millisecond}
			if timeout := property[uint32](p, "RollbackTimeout"); timeout > 0 {
				c.Left = max(c.Created+time.Duration(timeout)*time.Second-sinceBoot(), time.Millisecond)
			}
			found = append(found, c)
		}
		return nil
	})
	return found, err
}

// sinceBoot is the clock in which NetworkManager notes when a checkpoint was made.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic(err) // every Linux has it
	}
	return time.Duration(now.Nano())
}

func (m networkManager) extend(ctx context.Context, path string, by time.Duration) error {
	return m.call(ctx, busPath, busName+".CheckpointAdjustRollbackTimeout", nil, dbus.ObjectPath(path), uint32(by.Seconds()))
}

func (m networkManager) destroy(ctx context.Context, path string) error {
	return m.call(ctx, busPath, busName+".CheckpointDestroy", nil, dbus.ObjectPath(path))
}

func (m networkManager) rollback(ctx context.Context, path string) error {
	var devices map[string]uint32
	return m.call(ctx, busPath, busName+".CheckpointRollback", []any{&devices}, dbus.ObjectPath(path))
}

func (m networkManager) reload(ctx context.Context) error {
	var done bool
	return m.call(ctx, settingsPath, busSettings+".ReloadConnections", []any{&done})
}

func (m networkManager) remove(ctx context.Context, uuid string) error {
	return m.ask(ctx, func(b bus) error {
		path, err := b.byUUID(uuid)
		if err != nil {
			return err
		}
		return b.call(path, busSettings+".Connection.Delete", nil)
	})
}

func (m networkManager) activate(ctx context.Context, uuid string) error {
	return m.ask(ctx, func(b bus) error {
		path, err := b.byUUID(uuid)
		if err != nil {
			return err
		}
		var active dbus.ObjectPath
		none := dbus.ObjectPath("/")
		return b.call(busPath, busName+".ActivateConnection", []any{&active}, dbus.ObjectPath(path), none, none)
	})
}

// starting tells whether the connections of the boot are still being brought up.
func (m networkManager) starting(ctx context.Context) (starts bool, err error) {
	err = m.ask(ctx, func(b bus) error {
		props, err := b.properties(busPath, busName)
		starts = property[bool](props, "Startup")
		return err
	})
	return starts, err
}

func (b bus) byUUID(uuid string) (string, error) {
	var path dbus.ObjectPath
	err := b.call(settingsPath, busSettings+".GetConnectionByUuid", []any{&path}, uuid)
	return string(path), err
}

// profiles are those that NetworkManager knows and did not make up itself.
func (m networkManager) profiles(ctx context.Context) (all []profile, err error) {
	err = m.ask(ctx, func(b bus) error {
		states, err := b.activeStates()
		if err != nil {
			return err
		}
		var paths []dbus.ObjectPath
		if err := b.call(settingsPath, busSettings+".ListConnections", []any{&paths}); err != nil {
			return err
		}
		for _, path := range paths {
			p, err := b.profile(string(path))
			switch {
			case gone(err) || err == nil && p == nil:
				continue
			case err != nil:
				return err
			}
			p.Activating, p.Active = states[p.UUID] == activating, states[p.UUID] == activated
			all = append(all, *p)
		}
		return nil
	})
	return all, err
}

// profile reads one profile; nil is a picture of NetworkManager's own.
func (b bus) profile(path string) (*profile, error) {
	props, err := b.properties(path, busSettings+".Connection")
	if err != nil || property[uint32](props, "Flags")&external != 0 {
		return nil, err
	}
	var settings map[string]map[string]dbus.Variant
	if err := b.call(path, busSettings+".Connection.GetSettings", []any{&settings}); err != nil {
		return nil, err
	}
	c := settings["connection"]
	return &profile{
		UUID: property[string](c, "uuid"), ID: property[string](c, "id"), Interface: property[string](c, "interface-name"),
		Type: property[string](c, "type"), File: property[string](props, "Filename"),
		Fixed: append(fixed(settings["ipv4"]), fixed(settings["ipv6"])...),
	}, nil
}

// fixed are the addresses in one group of a profile.
func fixed(group map[string]dbus.Variant) (all []netip.Prefix) {
	for _, a := range property[[]map[string]dbus.Variant](group, "address-data") {
		if ip, err := netip.ParseAddr(property[string](a, "address")); err == nil {
			all = append(all, netip.PrefixFrom(ip, int(property[uint32](a, "prefix"))))
		}
	}
	return all
}

// States of an active connection (NMActiveConnectionState).
const (
	activating = 1
	activated  = 2
)

// activeStates are the states of the active connections, by their profiles' UUIDs.
func (b bus) activeStates() (map[string]uint32, error) {
	props, err := b.properties(busPath, busName)
	if err != nil {
		return nil, err
	}
	states := map[string]uint32{}
	for _, path := range property[[]dbus.ObjectPath](props, "ActiveConnections") {
		p, err := b.properties(string(path), busName+".Connection.Active")
		switch {
		case gone(err):
		case err != nil:
			return nil, err
		default:
			states[property[string](p, "Uuid")] = property[uint32](p, "State")
		}
	}
	return states, nil
}

// NoManager is the code of the Problem that NetworkManager does not answer, or lost the trial that it was in the middle of.
const NoManager = "NET-NM"

func noManager(err error) error {
	return &problem.Problem{
		Code: NoManager, Summary: message.T("NetworkManager does not answer."),
		Fix: message.T("Retry in a few seconds: systemd restarts it. If it stays so, reboot the node."), Err: err,
	}
}
