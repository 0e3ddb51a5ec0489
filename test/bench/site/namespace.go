package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"touchdown/test/wait"
)

// ErrNotPermitted says that this process may not make network namespaces: it wants root.
var ErrNotPermitted = errors.New("network namespaces need root (CAP_SYS_ADMIN and CAP_NET_ADMIN)")

// Namespace is a network namespace that this process holds open. One that it made has no name in the file system,
// so the kernel takes it away with everything in it when the process ends, however it ends.
type Namespace struct {
	file *os.File
	link *netlink.Handle
}

// NewNamespace makes an empty network namespace with its loopback up.
func NewNamespace() (*Namespace, error) {
	var made *os.File
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		var err error
		made, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	if errors.Is(err, unix.EPERM) {
		return nil, ErrNotPermitted
	}
	if err != nil {
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	n, err := handle(made)
	if err != nil {
		return nil, err
	}
	return n, n.up("lo")
}

// NamespaceFor makes an empty network namespace for a test, and closes it with the test. Where it may not, the test ends as with wait.Unable.
func NamespaceFor(t testing.TB) *Namespace {
	t.Helper()
	n, err := NewNamespace()
	if errors.Is(err, ErrNotPermitted) {
		wait.Unable(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// OpenNamespace opens a namespace that someone else made, by the path of its file.
func OpenNamespace(path string) (*Namespace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the network namespace: %w", err)
	}
	return handle(file)
}

func handle(file *os.File) (*Namespace, error) {
	link, err := netlink.NewHandleAt(netns.NsHandle(file.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("opening netlink in the namespace: %w", err)
	}
	return &Namespace{file: file, link: link}, nil
}

// Path is the namespace's file, for nsenter --net and the like, as long as this process lives.
func (n *Namespace) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), n.file.Fd()) }

// Close lets go of the namespace. It ends when no socket and no process is left in it.
func (n *Namespace) Close() {
	n.link.Close()
	n.file.Close()
}

// Do calls f on a thread that is in the namespace. Sockets made there stay there; goroutines that f starts do
// not. It is another goroutine than the caller's: f must not end a test.
func (n *Namespace) Do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("entering the network namespace: %w", err)
		}
		return f()
	})
}

// onThread calls f on a separate thread and puts the thread back into the process's namespace afterwards. A thread
// that cannot go back is not used again.
func onThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			result <- fmt.Errorf("opening this thread's network namespace: %w", err)
			return
		}
		defer home.Close()
		err = f()
		if unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}

// Start starts a command in the namespace.
func (n *Namespace) Start(cmd *exec.Cmd) error { return n.Do(cmd.Start) }

// Output runs a command in the namespace and returns what it said on stdout and stderr.
func (n *Namespace) Output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out []byte
	err := n.Do(func() error {
		var err error
		out, err = cmd.CombinedOutput()
		return err
	})
	return string(out), err
}

// Dial connects from the namespace to an address; names are not looked up.
func (n *Namespace) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if _, err := netip.ParseAddrPort(address); err != nil {
		return nil, fmt.Errorf("dialling %s: not an address and a port", address)
	}
	return in(n, func() (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, network, address) })
}

// Listen listens for connections in the namespace.
func (n *Namespace) Listen(network, address string) (net.Listener, error) {
	return in(n, func() (net.Listener, error) { return net.Listen(network, address) })
}

// ListenPacket listens for datagrams in the namespace.
func (n *Namespace) ListenPacket(network, address string) (net.PacketConn, error) {
	return in(n, func() (net.PacketConn, error) { return net.ListenPacket(network, address) })
}

// Interface finds a network interface of the namespace by its name.
func (n *Namespace) Interface(name string) (*net.Interface, error) {
	return in(n, func() (*net.Interface, error) { return net.InterfaceByName(name) })
}

// in is Do for a function with a result.
func in[T any](n *Namespace, f func() (T, error)) (result T, err error) {
	err = n.Do(func() error {
		var err error
		result, err = f()
		return err
	})
	return result, err
}

// sysctls writes settings below net, each "path=value".
func (n *Namespace) sysctls(settings map[string]string) error {
	return n.Do(func() error {
		for name, value := range settings {
			if err := os.WriteFile("/proc/sys/net/"+name, []byte(value), 0); err != nil {
				return fmt.Errorf("setting %s: %w", name, err)
			}
		}
		return nil
	})
}
