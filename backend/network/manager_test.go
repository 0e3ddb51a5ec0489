package network

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"touchdown/test/wait"
)

// onBus starts a bus of the test's own that the product takes for the system's, and has something on it that calls itself NetworkManager.
func onBus(t *testing.T) *dbus.Conn {
	t.Helper()
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		wait.Unable(t, "there is no dbus-daemon: %v", err)
	}
	address := "unix:path=" + filepath.Join(t.TempDir(), "bus")
	cmd := exec.CommandContext(t.Context(), daemon, "--session", "--nofork", "--nopidfile", "--address="+address)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
	var conn *dbus.Conn
	if err := wait.For(wait.Within(t, time.Minute), "the bus", func(context.Context) (err error) {
		conn, err = dbus.Connect(address)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.RequestName(busName, 0); err != nil {
		t.Fatal(err)
	}
	return conn
}

// thing is an object of the stand-in.
type thing struct {
	props    map[string]any
	settings map[string]any // of a profile
	fixed    netip.Prefix   // an address of the profile
	list     []dbus.ObjectPath
	asked    func()
	refused  *dbus.Error
}

func (o thing) GetAll(string) (map[string]dbus.Variant, *dbus.Error) {
	return variants(o.props), o.refused
}

func (o thing) ListConnections() ([]dbus.ObjectPath, *dbus.Error) { return o.list, nil }

func (o thing) GetSettings() (map[string]map[string]dbus.Variant, *dbus.Error) {
	if o.asked != nil {
		o.asked()
	}
	data := []map[string]dbus.Variant{variants(map[string]any{"address": o.fixed.Addr().String(), "prefix": uint32(o.fixed.Bits())})}
	return map[string]map[string]dbus.Variant{"connection": variants(o.settings), "ipv4": variants(map[string]any{"address-data": data})}, nil
}

func variants(values map[string]any) map[string]dbus.Variant {
	out := map[string]dbus.Variant{}
	for k, v := range values {
		out[k] = dbus.MakeVariant(v)
	}
	return out
}

func (o thing) at(t *testing.T, conn *dbus.Conn, path dbus.ObjectPath) {
	t.Helper()
	for _, iface := range []string{"org.freedesktop.DBus.Properties", busSettings, busSettings + ".Connection"} {
		if err := conn.Export(o, path, iface); err != nil {
			t.Fatal(err)
		}
	}
}

// profilesOn exports four profiles: one active, one down, one that NetworkManager made itself, one just deleted.
func profilesOn(t *testing.T, conn *dbus.Conn, asked func()) {
	t.Helper()
	const bridge, port, bond, gone, active = settingsPath + "/1", settingsPath + "/2", settingsPath + "/3", settingsPath + "/4", busPath + "/ActiveConnection/1"
	thing{props: map[string]any{"ActiveConnections": []dbus.ObjectPath{active, active + "0"}}}.at(t, conn, busPath)
	thing{props: map[string]any{"Uuid": "b", "State": uint32(activated)}}.at(t, conn, active)
	thing{list: []dbus.ObjectPath{bridge, gone, bond, port}}.at(t, conn, settingsPath)
	thing{
		props:    map[string]any{"Flags": uint32(0), "Filename": "/run/b"},
		settings: map[string]any{"uuid": "b", "id": "br-ex", "type": "ovs-interface", "interface-name": "br-ex"}, asked: asked,
		fixed: netip.MustParsePrefix("192.168.127.10/32"),
	}.at(t, conn, bridge)
	thing{props: map[string]any{"Flags": uint32(0)}, settings: map[string]any{"uuid": "p", "id": "port"}}.at(t, conn, port)
	thing{props: map[string]any{"Flags": uint32(external)}, settings: map[string]any{"uuid": "x"}}.at(t, conn, bond)
	refusal(t, conn, "UnknownMethod", gone, active+"0")
}

// refusal makes these objects answer with an error of the bus; NetworkManager 1.58.1 says UnknownMethod of an object that it does not have.
func refusal(t *testing.T, conn *dbus.Conn, name string, paths ...dbus.ObjectPath) {
	t.Helper()
	for _, path := range paths {
		thing{refused: dbus.NewError("org.freedesktop.DBus.Error."+name, nil)}.at(t, conn, path)
	}
}

// connections is how many were opened to the bus so far: it numbers them.
func connections(t *testing.T) int {
	t.Helper()
	conn, err := dbus.ConnectSystemBus()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	n, err := strconv.Atoi(strings.TrimPrefix(conn.Names()[0], ":1."))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAQuestionTakesOneConnection to the bus, however many profiles there are: it is asked again and again while something is awaited.
func TestAQuestionTakesOneConnection(t *testing.T) {
	profilesOn(t, onBus(t), nil)
	before := connections(t)
	got, err := networkManager{}.profiles(t.Context())
	if n := connections(t) - before - 1; n != 1 {
		t.Errorf("the question took %d connections", n)
	}
	want := []profile{
		{UUID: "b", ID: "br-ex", Interface: "br-ex", Type: "ovs-interface", File: "/run/b", Active: true, Fixed: []netip.Prefix{netip.MustParsePrefix("192.168.127.10/32")}},
		{UUID: "p", ID: "port"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestQuestionThatEndsHalfWay is an error, for what was told until then would be taken for the whole.
func TestQuestionThatEndsHalfWay(t *testing.T) {
	conn := onBus(t)
	ctx, stop := context.WithCancel(t.Context())
	profilesOn(t, conn, stop)
	if got, err := (networkManager{}).profiles(ctx); !errors.Is(err, context.Canceled) || is(err, NoManager) {
		t.Errorf("stopped: %+v, %v", got, err)
	}
	profilesOn(t, conn, func() { _, _ = conn.ReleaseName(busName) })
	if got, err := (networkManager{}).profiles(t.Context()); !is(err, NoManager) {
		t.Errorf("NetworkManager went: %+v, %v", got, err)
	}
}

// TestAConnectionClosedByItsQuestion: the bus closes it when the context ends, and a read or write then fails first with that alone.
func TestAConnectionClosedByItsQuestion(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	b := bus{ctx: ctx}
	for _, err := range []error{net.ErrClosed, dbus.ErrClosed} {
		if got := b.failed("Get", err); !is(got, NoManager) {
			t.Errorf("lost: %v", got)
		}
	}
	stop()
	for _, err := range []error{net.ErrClosed, dbus.ErrClosed, context.Canceled} {
		if got := b.failed("Get", err); !errors.Is(got, context.Canceled) || is(got, NoManager) {
			t.Errorf("ended: %v", got)
		}
	}
}

// TestABusThatIsFull refuses to pass a question on: that says nothing of the profile that was asked for.
func TestABusThatIsFull(t *testing.T) {
	conn := onBus(t)
	profilesOn(t, conn, nil)
	refusal(t, conn, "LimitsExceeded", settingsPath+"/3")
	if got, err := (networkManager{}).profiles(t.Context()); err == nil {
		t.Errorf("took %+v for all profiles", got)
	}
}
