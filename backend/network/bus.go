package network

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/godbus/dbus/v5"
)

// bus is a connection to the system bus, open for one question.
type bus struct {
	ctx  context.Context //nolint:containedctx // it lives as long as the question
	conn *dbus.Conn
}

func (b bus) call(path, method string, out []any, args ...any) error {
	call := b.conn.Object(busName, dbus.ObjectPath(path)).CallWithContext(b.ctx, method, 0, args...)
	if call.Err != nil {
		return b.failed(method, call.Err)
	}
	if len(out) == 0 {
		return nil
	}
	if err := call.Store(out...); err != nil {
		return fmt.Errorf("reading NetworkManager's answer to %s: %w", method, err)
	}
	return nil
}

// away are the bus's errors for a NetworkManager that is not there, or went while it was asked.
var away = []string{
	"org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
	"org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected",
}

func (b bus) failed(method string, err error) error {
	e, answered := err.(dbus.Error) //nolint:errorlint // the bus returns it unwrapped
	switch {
	case !answered:
		return lost(b.ctx, err)
	case slices.Contains(away, e.Name):
		return noManager(err)
	}
	return fmt.Errorf("asking NetworkManager for %s: %w", method, err)
}

// lost explains a connection that failed. It is closed as soon as the question's context ends, and the error may then tell of the
// closing alone: that says nothing about NetworkManager.
func lost(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("asking NetworkManager: %w", ended)
	}
	return noManager(err)
}

// missing are the errors for an object that is not there, by the versions of GLib that answer for NetworkManager (gio/gdbusconnection.c).
var missing = []string{
	"org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.UnknownMethod",
	"org.freedesktop.DBus.Error.UnknownInterface", "org.freedesktop.DBus.Error.InvalidArgs",
}

// gone tells that one object ended or was deleted while we asked; the others can still be read.
// Any other error ends the question, for a part of the answer would be taken for the whole.
func gone(err error) bool {
	e, answered := errors.AsType[dbus.Error](err)
	return answered && slices.Contains(missing, e.Name)
}

func (b bus) properties(path, iface string) (map[string]dbus.Variant, error) {
	var props map[string]dbus.Variant
	err := b.call(path, "org.freedesktop.DBus.Properties.GetAll", []any{&props}, iface)
	return props, err
}
