package clock_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/clock"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// server is a real NTP server on the loopback whose clock is off by shift; unsynced, it says that it has no time itself.
func server(t *testing.T, shift time.Duration, unsynced bool) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	stamp := func(at time.Time) uint64 {
		seconds := uint64(at.Unix() + 2208988800) // RFC 5905: from 1900 on
		return seconds<<32 | uint64(at.Nanosecond())<<32/1e9
	}
	go func() {
		b := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if n < 48 {
				continue
			}
			answer := make([]byte, 48)
			answer[0], answer[1] = 0<<6|4<<3|4, 2 // no warning, version 4, server; stratum 2
			if unsynced {
				answer[0] |= 3 << 6
			}
			now := stamp(time.Now().Add(shift))
			binary.BigEndian.PutUint64(answer[16:], now) // reference
			copy(answer[24:32], b[40:48])                // origin
			binary.BigEndian.PutUint64(answer[32:], now)
			binary.BigEndian.PutUint64(answer[40:], stamp(time.Now().Add(shift)))
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return conn.LocalAddr().String()
}

func TestQueryOfRealServers(t *testing.T) {
	right, early, unsynced := server(t, 0, false), server(t, -72*time.Hour, false), server(t, 0, true)
	closed, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := closed.LocalAddr().String()
	closed.Close()
	asked := time.Now()
	got := clock.Query(t.Context(), []string{right, early, unsynced, gone}, time.Now)
	// An answer that was on its way for long says that much less: a busy machine may stop either side in between.
	if way := time.Since(asked) + time.Millisecond; got[0].Err != nil || got[0].Ahead.Abs() > way {
		t.Errorf("the right one: %+v", got[0])
	}
	if way := time.Since(asked) + time.Millisecond; got[1].Err != nil || (got[1].Ahead+72*time.Hour).Abs() > way {
		t.Errorf("the one 3 days back: %+v", got[1])
	}
	if got[2].Err == nil || got[3].Err == nil {
		t.Errorf("no answer is worth nothing: %+v %+v", got[2], got[3])
	}
	hour := func() time.Time { return time.Now().Add(time.Hour) } // a machine whose clock is a stand-in
	asked = time.Now()
	if got := clock.Query(t.Context(), []string{right}, hour); (got[0].Ahead + time.Hour).Abs() > time.Since(asked)+time.Millisecond {
		t.Errorf("a machine an hour ahead: %+v", got[0])
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if got := clock.Query(ctx, []string{right}, time.Now); !errors.Is(got[0].Err, context.Canceled) {
		t.Errorf("stopped: %+v", got[0])
	}
}

func TestJudge(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	bounds := clock.Bounds{NotBefore: now.Add(-90 * day), NotAfter: now.Add(3650 * day), After: message.Data("made"), Until: message.Data("ends")}
	said := func(ahead ...time.Duration) []clock.Offset {
		var out []clock.Offset
		for i, a := range ahead {
			out = append(out, clock.Offset{Source: string(rune('a' + i)), Ahead: a})
		}
		return out
	}
	for _, c := range []struct {
		what    string
		offsets []clock.Offset
		now     time.Time
		ahead   time.Duration
		ask     bool
		reject  string
		strays  int
		wrong   bool
	}{
		{what: "no server", now: now},
		{what: "one without an answer", offsets: []clock.Offset{{Source: "a", Err: errors.New("x")}}, now: now},
		{what: "a little off is chrony's", offsets: said(900 * time.Millisecond), now: now},
		{what: "an hour ahead is set", offsets: said(time.Hour), now: now, ahead: time.Hour},
		{what: "four minutes back are set", offsets: said(-4 * time.Minute), now: now, ahead: -4 * time.Minute},
		{what: "an hour back is asked for", offsets: said(-time.Hour), now: now, ahead: -time.Hour, ask: true},
		{what: "three days are asked for", offsets: said(3 * day), now: now, ahead: 3 * day, ask: true},
		{what: "three days by all are asked for too", offsets: said(3*day, 3*day+time.Millisecond), now: now, ahead: 3*day + time.Millisecond, ask: true},
		{what: "one of three is wrong", offsets: said(0, 3*day, time.Millisecond), now: now, strays: 1},
		{what: "one of three is right", offsets: said(0, 3*day, -3*day), now: now, reject: "contradict"},
		{what: "two contradict", offsets: said(0, time.Hour), now: now, reject: "contradict"},
		{what: "before the factory", offsets: said(-100 * day), now: now, reject: "made"},
		{what: "after the end of all", offsets: said(4000 * day), now: now, reject: "ends"},
		{what: "a dead battery needs no answer", offsets: said(9000 * day), now: now.Add(-9000 * day), ahead: 9000 * day, wrong: true},
	} {
		v := clock.Judge(c.offsets, c.now, bounds)
		if v.Ahead != c.ahead || (v.Ask.String() != "") != c.ask || (v.Reject.String() != "") != (c.reject != "") || !strings.Contains(v.Reject.String(), c.reject) ||
			len(v.Strays) != c.strays || (v.Wrong.String() != "") != c.wrong {
			t.Errorf("%s: %+v", c.what, v)
		}
	}
	for ahead, asks := range map[time.Duration]bool{-3 * time.Hour: true, -time.Minute: false, 3 * time.Hour: false, 365 * day: true} {
		if v := clock.Typed(ahead, now, clock.Bounds{NotBefore: now.Add(-30 * day)}); v.Ahead != ahead || (v.Ask.String() != "") != asks || !v.Typed {
			t.Errorf("%s ahead: %+v", ahead, v)
		}
	}
	if v := clock.Typed(100*day, now, clock.Bounds{NotBefore: now.Add(day)}); v.Ahead != 100*day || v.Ask.String() != "" { // the machine's own time cannot be right
		t.Errorf("a clock that is surely wrong: %+v", v)
	}
	if v := clock.Typed(-100*day, now, bounds); v.Reject.String() == "" || v.Ahead != 0 {
		t.Errorf("a typed time before the factory: %+v", v)
	}
}

func cert(t *testing.T, from, until time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestBoundsAreTheNodesCertificates(t *testing.T) {
	m := hosttest.New(t)
	now := time.Now().UTC().Truncate(time.Second)
	day := 24 * time.Hour
	if b := clock.Signed(m.Machine, now); !b.NotBefore.Equal(now) || !b.NotAfter.IsZero() {
		t.Errorf("without certificates: %+v", b)
	}
	m.File("/var/lib/kubelet/pki/kubelet-client-current.pem", cert(t, now.Add(-3*day), now.Add(-day)))
	m.File("/etc/kubernetes/ca.crt", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"+
		cert(t, now.Add(-70*day), now.Add(20*day))) // what is not a certificate hides none behind it
	if b := clock.Signed(m.Machine, time.Time{}); !b.NotAfter.Equal(now.Add(20 * day)) {
		t.Errorf("behind damage: %+v", b)
	}
	m.File("/etc/kubernetes/kubelet-ca.crt", cert(t, now.Add(-60*day), now.Add(10*day))+cert(t, now.Add(-30*day), now.Add(300*day)))
	m.File("/etc/kubernetes/kubeconfig", "users:\n- user:\n    client-certificate-data: "+
		base64.StdEncoding.EncodeToString([]byte(cert(t, now.Add(-60*day), now.Add(200*day))))+"\n")
	b := clock.Signed(m.Machine, time.Time{})
	if !b.NotBefore.Equal(now.Add(-3*day)) || !b.NotAfter.Equal(now.Add(300*day)) {
		t.Errorf("bounds are %+v", b)
	}
	if b.Allows(now).String() != "" || b.Allows(now.Add(-4*day)).String() == "" || b.Allows(now.Add(301*day)).String() == "" {
		t.Error("the bounds do not bound")
	}
}

func TestKnownSources(t *testing.T) {
	m := hosttest.New(t)
	if got := clock.Known(m.Machine); len(got) != 0 {
		t.Errorf("without chrony: %v", got)
	}
	m.File("/etc/chrony.conf", "Pool pool.example iburst\n# server x\nSourceDir /run/chrony-dhcp\nconfdir /etc/chrony.d\nSERVER a.example\n")
	m.File("/etc/chrony.d/factory.conf", "server b.example\n")
	m.File("/run/chrony-dhcp/br-ex.sources", "server 198.51.100.123 iburst\n")
	if got := clock.Known(m.Machine); !slices.Equal(got, []string{"198.51.100.123", "a.example", "b.example", "pool.example"}) {
		t.Errorf("known are %v", got)
	}
	if got := clock.Leased(m.Machine); !slices.Equal(got, []string{"198.51.100.123"}) {
		t.Errorf("given by DHCP are %v", got)
	}
}

func TestSet(t *testing.T) {
	m := hosttest.New(t)
	m.File("/dev/rtc0", "")
	if err := clock.Set(t.Context(), m.Machine, time.Hour); err != nil || m.Moved() != time.Hour {
		t.Errorf("moved by %s (%v)", m.Moved(), err)
	}
	if got := m.Calls(); !slices.Equal(got, []string{"hwclock --systohc --utc", "systemctl try-restart chronyd.service"}) {
		t.Errorf("calls are %q", got)
	}
	m.On("systemctl try-restart", "", errors.New("exit status 1")) // a daemon that goes on by what it measured puts the old time back
	if err := clock.Set(t.Context(), m.Machine, -time.Hour); err == nil || problem.From(err).Code == "CLK-SET" {
		t.Errorf("the clock was set, and the time service was not restarted: %v", err)
	}
	m.StickClock(errors.New("operation not permitted"))
	if p := problem.From(clock.Set(t.Context(), m.Machine, time.Hour)); p.Code != "CLK-SET" {
		t.Errorf("problem is %v", p)
	}
}
