package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/beevik/ntp"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

const (
	ntpPort  = 123
	ntpTries = 2
	ntpWait  = 1200 * time.Millisecond // for one try

	// clockWarn is from where on a clock is told to be wrong. Kerberos gives up there, and below it certificates and
	// tokens of a cluster still work.
	clockWarn = 5 * time.Minute

	// disagree is how far two time servers may be apart before neither is believed.
	disagree = time.Minute
)

// clocks asks the time servers and judges them.
type clocks struct {
	*resolver
	sources []*source
}

// source is a time server and what it said.
type source struct {
	name     string
	address  netip.Addr
	response *ntp.Response
	err      error
}

func (s *source) good() bool {
	return s.response != nil && s.err == nil && s.response.Validate() == nil
}

func (k *clocks) askSource(ctx context.Context, s *source) {
	found, err := k.lookup(ctx, s.name)
	if err != nil {
		s.err = err
		return
	}
	s.address = found[0]
	if why := k.inside(s.address); why != nil {
		s.err = *why
		return
	}
	for range ntpTries {
		s.response, s.err = queryTime(s.address.String(), ntp.QueryOptions{
			Timeout: ntpWait, GetSystemTime: k.t.Now,
			Dialer: func(_, _ string) (net.Conn, error) {
				return k.dial(ctx, "udp", netip.AddrPortFrom(s.address, ntpPort))
			},
		})
		if s.err == nil || !timedOut(s.err) || ctx.Err() != nil {
			return
		}
	}
}

// queryTime survives any answer: the library (1.6.0) panics on one whose interval is 2 to the power of -128 seconds.
func queryTime(server string, o ntp.QueryOptions) (answer *ntp.Response, err error) {
	defer func() {
		if recover() != nil {
			answer, err = nil, errors.New("its answer cannot be read")
		}
	}()
	return ntp.QueryWithOptions(server, o) //nolint:wrapcheck // judgeSource says what it is about
}

// trusted returns a time server that no other one contradicts.
func (k *clocks) trusted() *source {
	var first *source
	for _, s := range k.sources {
		if !s.good() {
			continue
		}
		if first == nil {
			first = s
		}
		if (s.response.ClockOffset - first.response.ClockOffset).Abs() > disagree {
			return nil
		}
	}
	return first
}

// judgeSources never fails: the clock can be set, and another server be named, when the node has moved.
func (k *clocks) judgeSources() {
	if len(k.sources) == 0 {
		k.say(check.Check{ID: "net-ntp-1", Title: message.T("Time server"), Status: check.Skip, Observed: message.T("Absent, not needed: the machine keeps its own time.")})
	}
	for i, s := range k.sources {
		c := check.Check{
			ID: fmt.Sprintf("net-ntp-%d", i+1), Title: message.F("Time server %s", s.name),
			Expected: message.F("an answer, and less than %s between its clock and this machine's", span(clockWarn)),
		}
		k.judgeSource(&c, s)
		k.say(c)
	}
}

func (k *clocks) judgeSource(c *check.Check, s *source) {
	c.Status = check.Warn
	if s.address.IsValid() {
		c.Evidence = append(c.Evidence, k.through(s.address))
	}
	if s.err != nil {
		c.Evidence = append(c.Evidence, message.Detail(s.err))
		c.Observed, c.Fix = k.silentSource(s), message.T("Check the time server's address, or go on: the time can be typed by hand.")
		none, _ := errors.AsType[unreachable](s.err)
		switch {
		case s.address.IsValid():
		case nobodyToAsk(k.servers, k.families):
			c.Observed, c.Fix = message.F("%s is a name, and there is no DNS server to look it up.", s.name), message.T("Type the time server's address instead.")
		case !k.asks():
			none = unreachable{why: message.T(noDNS), follows: true}
		}
		if none.follows {
			c.Status, c.Fix = check.Skip, message.Text{}
			c.Observed = message.F("Not tried: %s.", none.why)
		}
		return
	}
	offset := s.response.ClockOffset
	c.Evidence = append(c.Evidence, message.F("offset %s, stratum %d, reference %s, round trip %s",
		offset, s.response.Stratum, s.response.ReferenceString(), s.response.RTT))
	switch err := s.response.Validate(); {
	case err != nil:
		c.Evidence = append(c.Evidence, message.Detail(err))
		c.Observed = message.T("It answers, but reports that it is unsynchronised.")
		c.Fix = message.T("Use another time server, or ask the site's network administrator.")
	case k.trusted() == nil:
		c.Observed = message.F("The time servers contradict each other; this one says %s.", s.response.Time.UTC().Format(clockFormat))
		c.Fix = message.T("Compare with a watch (UTC) and leave out the server that is wrong.")
	case offset.Abs() > clockWarn:
		now := k.t.Now()
		c.Observed = message.F("This machine's clock says %s, the time server says %s: they differ by %s.",
			now.UTC().Format(clockFormat), now.Add(offset).UTC().Format(clockFormat), span(offset.Abs()))
		c.Fix = message.T("Compare with a watch (UTC). If the server is right, there is nothing to do: the clock is set before the move. If not, use another server.")
	default:
		c.Status = check.Pass
		c.Observed = message.F("It answers; this machine's clock differs by %s.", span(offset.Abs()))
	}
}

const clockFormat = "2006-01-02 15:04:05 UTC"

// span tells a duration as a person would.
func span(d time.Duration) message.Text {
	switch {
	case d < time.Second:
		return message.T("less than a second")
	case d < 2*time.Minute:
		return message.F("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return message.F("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return message.F("%.0f h", d.Hours())
	}
	return message.F("%.0f days", d.Hours()/24)
}

func (k *clocks) silentSource(s *source) message.Text {
	none, _ := errors.AsType[unreachable](s.err)
	switch {
	case !s.address.IsValid():
		return message.F("Its address could not be found: %s.", message.Detail(s.err))
	case none.why != (message.Text{}):
		return message.F("%s cannot be asked: %s.", s.name, none.why)
	case closedPort(s.err):
		return message.F("There is a machine at %s, but it is not a time server.", s.address)
	case k.neighbourMissing(s.address):
		return message.F("No machine on this network has the address %s.", s.address)
	}
	return message.F("%s does not answer%s.", s.name, k.behind(s.address))
}
