package hardware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// asker puts the questions that no file answers, to the running machine or to a snapshot of it. It keeps the answers.
type asker struct {
	m        *host.Machine
	replayed bool // m is unpacked from a snapshot, and got is what the machine said then
	got      answers
}

// answers are the file of a snapshot that holds what no other file of it does.
type answers struct {
	Format   int             `json:"format"` // answersFormat
	Taken    time.Time       `json:"taken"`
	Arch     string          `json:"arch,omitempty"`
	Var      Space           `json:"var"`
	Commands map[string]said `json:"commands,omitempty"`
	Links    map[string]link `json:"links,omitempty"`
	Routes   []Route         `json:"routes,omitempty"`
}

const answersFormat = 1

// link is what only the running kernel tells of a port.
type link struct {
	MAC       string   `json:"mac,omitempty"` // the permanent one
	Driver    string   `json:"driver,omitempty"`
	Firmware  string   `json:"firmware,omitempty"`
	Flags     []string `json:"flags,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

// Route is one way out of the machine.
type Route struct {
	Interface   string `json:"interface,omitempty"`
	Destination string `json:"destination"` // "0.0.0.0/0", "::/0": everything else
	Gateway     string `json:"gateway,omitempty"`
	Metric      int    `json:"metric,omitempty"`
}

// errNotKept is the answer of a snapshot to a question that nobody put to the machine then.
var errNotKept = message.Failed(message.T("the snapshot has no answer to this"))

// live reports whether the kernel may be asked: a test's folder and a snapshot are not the machine of this process.
func (a *asker) live() bool { return a.m.Root() == "" && !a.replayed }

// said is how a command ended.
type said struct {
	Out     string `json:"out,omitempty"` // what it wrote to stdout
	Failed  string `json:"failed,omitempty"`
	Missing bool   `json:"missing,omitempty"` // the machine has no such program
}

var errNotInstalled = message.Failed(message.T("the program is not installed"))

func (s said) result() (string, error) {
	switch {
	case s.Missing:
		return "", errNotInstalled
	case s.Failed != "":
		return s.Out, errors.New(s.Failed)
	}
	return s.Out, nil
}

// run runs a command of the machine, which changes nothing, and returns what it wrote.
func (a *asker) run(ctx context.Context, argv ...string) (string, error) {
	line := strings.Join(argv, " ")
	if a.replayed {
		if s, ok := a.got.Commands[line]; ok {
			return s.result()
		}
		return "", errNotKept
	}
	out, err := a.m.Run(ctx, argv...)
	s := said{Out: out, Missing: host.NotInstalled(err)}
	if err != nil {
		s.Failed = err.Error()
	}
	if a.got.Commands == nil {
		a.got.Commands = map[string]said{}
	}
	a.got.Commands[line] = s
	return s.result()
}

func (a *asker) space() (Space, error) {
	if a.replayed {
		if a.got.Var.Total == 0 {
			return Space{}, errNotKept
		}
		return a.got.Var, nil
	}
	var s Space
	var err error
	s.Free, s.Total, err = a.m.Space("/var")
	a.got.Var = s
	return s, err
}

// arch is the architecture in the kernel's words.
func (a *asker) arch() string {
	var name unix.Utsname
	if a.live() && unix.Uname(&name) == nil {
		a.got.Arch = unix.ByteSliceToString(name.Machine[:])
	}
	return a.got.Arch
}

// link asks for a port. ok is false where nobody answers.
func (a *asker) link(name string) (l link, ok bool) {
	if !a.live() {
		l, ok = a.got.Links[name]
		return l, ok
	}
	found, err := netlink.LinkByName(name)
	if err != nil {
		// It went away since: a pod ended, a cable adapter was pulled out.
		return l, false
	}
	l.MAC = found.Attrs().PermHWAddr.String()
	if l.Flags = strings.Split(found.Attrs().Flags.String(), "|"); l.Flags[0] == "0" {
		l.Flags = nil
	}
	if addresses, err := netlink.AddrList(found, netlink.FAMILY_ALL); err == nil {
		for _, address := range addresses {
			l.Addresses = append(l.Addresses, address.IPNet.String())
		}
	}
	// Virtual drivers refuse; that is not an error of the machine.
	if driver, err := host.DriverOf(name); err == nil {
		l.Driver, l.Firmware = driver.Name, driver.Firmware
	}
	if a.got.Links == nil {
		a.got.Links = map[string]link{}
	}
	a.got.Links[name] = l
	return l, true
}

// routes are those of the main table.
func (a *asker) routes() ([]Route, error) {
	if !a.live() {
		if a.replayed && a.got.Routes == nil {
			return nil, errNotKept
		}
		return a.got.Routes, nil
	}
	names := map[int]string{}
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("asking for the network ports: %w", err)
	}
	for _, l := range links {
		names[l.Attrs().Index] = l.Attrs().Name
	}
	found, err := netlink.RouteList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("asking for the routes: %w", err)
	}
	all := make([]Route, 0, len(found))
	for _, r := range found {
		route := Route{Interface: names[r.LinkIndex], Metric: r.Priority}
		if r.Dst != nil {
			route.Destination = r.Dst.String()
		}
		if r.Gw != nil {
			route.Gateway = r.Gw.String()
		}
		all = append(all, route)
	}
	a.got.Routes = slices.Clone(all)
	return all, nil
}
