// Package clock finds out what time it is, from the site's time servers or a person, and sets the machine's clock to it.
package clock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/beevik/ntp"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// timeout is how long one time server may take to answer.
const timeout = 3 * time.Second

// Query asks all time servers at once how far the machine's clock is behind theirs, in their order. now is the machine's clock.
func Query(ctx context.Context, servers []string, now func() time.Time) []Offset {
	out := make([]Offset, len(servers))
	var all sync.WaitGroup
	for i, server := range servers {
		all.Go(func() { out[i] = query(ctx, server, now) })
	}
	all.Wait()
	return out
}

// query asks twice: the first answer of a server behind a slow line may be late.
func query(ctx context.Context, server string, now func() time.Time) Offset {
	return queryBy(ctx, server, now, func(ctx context.Context, remote string) (net.Conn, error) {
		return (&net.Dialer{Timeout: timeout}).DialContext(ctx, "udp", remote)
	})
}

func queryBy(ctx context.Context, server string, now func() time.Time, dial func(context.Context, string) (net.Conn, error)) Offset {
	o := Offset{Source: server}
	for range 2 {
		if ctx.Err() != nil {
			o.Err = fmt.Errorf("asking %s: %w", server, context.Cause(ctx))
			return o
		}
		answer, err := ask(server, ntp.QueryOptions{Timeout: timeout, Dialer: func(_, remote string) (net.Conn, error) {
			return dial(ctx, remote)
		}})
		if err == nil {
			err = answer.Validate() // also a server that says it is not synchronised itself
		}
		if err == nil {
			// The library measures by the kernel's clock, which is not the machine's where that is a stand-in.
			o.Ahead, o.Err = answer.ClockOffset-time.Until(now()), nil
			return o
		}
		o.Err = fmt.Errorf("asking %s: %w", server, err)
	}
	return o
}

// ask survives any answer: the library (1.6.0) panics on one whose interval is 2 to the power of -128 seconds.
func ask(server string, o ntp.QueryOptions) (answer *ntp.Response, err error) {
	defer func() {
		if recover() != nil {
			answer, err = nil, errors.New("its answer cannot be read")
		}
	}()
	return ntp.QueryWithOptions(server, o) //nolint:wrapcheck // the caller does
}

// Known returns the time servers that chrony uses: of its configuration, and of the folders that it names.
func Known(m *host.Machine) []string {
	_, conf := chronyConf(m)
	return sorted(append(sources(conf), inFolders(m, true)...))
}

// Leased returns those among them that the site gave by DHCP: NetworkManager's dispatcher script of chrony (20-chrony-dhcp) puts
// them into a folder that is not beside the configuration.
func Leased(m *host.Machine) []string { return sorted(inFolders(m, false)) }

func sorted(servers []string) []string {
	slices.Sort(servers)
	return slices.Compact(servers)
}

func chronyConf(m *host.Machine) (file, conf string) {
	for _, file := range []string{rhcos.Chrony, "/etc/chrony/chrony.conf"} {
		if conf, err := m.ReadFile(file); err == nil {
			return file, string(conf)
		}
	}
	return "", ""
}

// inFolders returns the servers in the folders that chrony's configuration names, with or without those beside it.
func inFolders(m *host.Machine, beside bool) (servers []string) {
	file, conf := chronyConf(m)
	for line := range strings.Lines(conf) {
		directive, words := directiveOf(line)
		pattern, is := map[string]string{"sourcedir": "/*.sources", "confdir": "/*.conf"}[directive]
		if !is {
			continue
		}
		for _, dir := range words {
			if !beside && strings.HasPrefix(dir, path.Dir(file)+"/") {
				continue
			}
			files, _ := m.Glob(dir + pattern) // a folder that is not there names no server
			for _, f := range files {
				if b, err := m.ReadFile(f); err == nil {
					servers = append(servers, sources(string(b))...)
				}
			}
		}
	}
	return servers
}

// sources returns the servers of chrony's "server" and "pool" lines.
func sources(conf string) []string {
	var out []string
	for line := range strings.Lines(conf) {
		directive, words := directiveOf(line)
		if len(words) > 0 && (directive == "server" || directive == "pool") {
			out = append(out, words[0])
		}
	}
	return out
}

// directiveOf splits a line of chrony's configuration. Directives may be written in capitals (chrony.conf(5)).
func directiveOf(line string) (directive string, words []string) {
	words = strings.Fields(line)
	if len(words) == 0 {
		return "", nil
	}
	return strings.ToLower(words[0]), words[1:]
}

// Set moves the clock. Chrony is restarted after it, as all that it measured before is worth nothing, and keeps the time from
// there on.
func Set(ctx context.Context, m *host.Machine, ahead time.Duration) error {
	if err := m.MoveClock(ctx, ahead); err != nil {
		return &problem.Problem{
			Code:    "CLK-SET",
			Summary: message.T("The clock could not be set."),
			Fix:     message.T("Set it in the machine's firmware (BIOS), then retry."),
			Err:     err,
		}
	}
	if _, err := m.Run(ctx, "systemctl", "try-restart", "chronyd.service"); err != nil {
		return fmt.Errorf("restarting the time service: %w", err)
	}
	return nil
}
