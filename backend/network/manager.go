package network

import (
	"context"
	"fmt"
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
	Active                          bool // and fully so
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

// call opens the bus for one call: NetworkManager and the bus itself may have been restarted since the last one.
func (m networkManager) call(ctx context.Context, path, method string, out []any, args ...any) error {
	if m.off != nil {
		return m.off
	}
	bus, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return noManager(err)
	}
	defer func() { _ = bus.Close() }()
	call := bus.Object(busName, dbus.ObjectPath(path)).CallWithContext(ctx, method, 0, args...)
	if call.Err != nil {
		return busError(method, call.Err)
	}
	if len(out) == 0 {
		return nil
	}
	if err := call.Store(out...); err != nil {
		return fmt.Errorf("reading NetworkManager's answer to %s: %w", method, err)
	}
	return nil
}

func busError(method string, err error) error {
	if e, ok := err.(dbus.Error); ok && (e.Name == "org.freedesktop.DBus.Error.ServiceUnknown" || e.Name == "org.freedesktop.DBus.Error.NameHasNoOwner") { //nolint:errorlint // the bus returns it unwrapped
		return noManager(err)
	}
	return fmt.Errorf("asking NetworkManager for %s: %w", method, err)
}

func (m networkManager) properties(ctx context.Context, path, iface string) (map[string]dbus.Variant, error) {
	var props map[string]dbus.Variant
	err := m.call(ctx, path, "org.freedesktop.DBus.Properties.GetAll", []any{&props}, iface)
	return props, err
}

// property reads one value of a known type; a missing one is the zero value.
func property[T any](props map[string]dbus.Variant, name string) T {
	v, _ := props[name].Value().(T)
	return v
}

func (m networkManager) checkpoints(ctx context.Context) ([]checkpoint, error) {
	props, err := m.properties(ctx, busPath, busName)
	if err != nil {
		return nil, err
	}
	var found []checkpoint
	for _, path := range property[[]dbus.ObjectPath](props, "Checkpoints") {
		p, err := m.properties(ctx, string(path), busName+".Checkpoint")
		if err != nil {
			continue // it ended while we asked
		}
		c := checkpoint{Path: string(path), Created: time.Duration(property[int64](p, "Created")) * time.Millisecond}
		if timeout := property[uint32](p, "RollbackTimeout"); timeout > 0 {
			c.Left = max(c.Created+time.Duration(timeout)*time.Second-sinceBoot(), time.Millisecond)
		}
		found = append(found, c)
	}
	return found, nil
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
	path, err := m.byUUID(ctx, uuid)
	if err != nil {
		return err
	}
	return m.call(ctx, path, busSettings+".Connection.Delete", nil)
}

func (m networkManager) activate(ctx context.Context, uuid string) error {
	path, err := m.byUUID(ctx, uuid)
	if err != nil {
		return err
	}
	var active dbus.ObjectPath
	none := dbus.ObjectPath("/")
	return m.call(ctx, busPath, busName+".ActivateConnection", []any{&active}, dbus.ObjectPath(path), none, none)
}

// starting tells whether the connections of the boot are still being brought up.
func (m networkManager) starting(ctx context.Context) (bool, error) {
	props, err := m.properties(ctx, busPath, busName)
	return property[bool](props, "Startup"), err
}

func (m networkManager) byUUID(ctx context.Context, uuid string) (string, error) {
	var path dbus.ObjectPath
	err := m.call(ctx, settingsPath, busSettings+".GetConnectionByUuid", []any{&path}, uuid)
	return string(path), err
}

func (m networkManager) profiles(ctx context.Context) ([]profile, error) {
	states, err := m.activeStates(ctx)
	if err != nil {
		return nil, err
	}
	var paths []dbus.ObjectPath
	if err := m.call(ctx, settingsPath, busSettings+".ListConnections", []any{&paths}); err != nil {
		return nil, err
	}
	var all []profile
	for _, path := range paths {
		var settings map[string]map[string]dbus.Variant
		if m.call(ctx, string(path), busSettings+".Connection.GetSettings", []any{&settings}) != nil {
			continue // deleted while we asked
		}
		props, err := m.properties(ctx, string(path), busSettings+".Connection")
		if err != nil || property[uint32](props, "Flags")&external != 0 {
			continue
		}
		c := settings["connection"]
		p := profile{
			UUID: property[string](c, "uuid"), ID: property[string](c, "id"), Interface: property[string](c, "interface-name"),
			Type: property[string](c, "type"), File: property[string](props, "Filename"),
		}
		p.Activating, p.Active = states[p.UUID] == activating, states[p.UUID] == activated
		all = append(all, p)
	}
	return all, nil
}

// States of an active connection (NMActiveConnectionState).
const (
	activating = 1
	activated  = 2
)

func (m networkManager) activeStates(ctx context.Context) (map[string]uint32, error) {
	props, err := m.properties(ctx, busPath, busName)
	if err != nil {
		return nil, err
	}
	states := map[string]uint32{}
	for _, path := range property[[]dbus.ObjectPath](props, "ActiveConnections") {
		if p, err := m.properties(ctx, string(path), busName+".Connection.Active"); err == nil {
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

func checkpointOpen(err error) error {
	return &problem.Problem{
		Code: Busy, Summary: message.T("Someone else is trying out network settings on this node."),
		Fix: message.T("Wait until their time is up and retry, or take over: their settings are then put back first."), Err: err,
	}
}
