package clock

import (
	"context"
	"encoding/binary"
	"net"
	"testing"
	"time"
)

// FuzzAnswer asks a time server that answers whatever it likes: the clock never moves to a time before the node was made, nor
// without an agreement.
func FuzzAnswer(f *testing.F) {
	good := make([]byte, 48)
	good[0], good[1], good[2], good[3] = 0x24, 2, 6, 0xec
	f.Add(good, true)
	f.Add([]byte{}, false)
	f.Add(append([]byte{0xe4}, make([]byte, 47)...), true)
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	bounds := Bounds{NotBefore: made}
	f.Fuzz(func(t *testing.T, answer []byte, echo bool) {
		ask := func(context.Context, string) (net.Conn, error) { return newLiar(answer, echo), nil }
		o := queryBy(t.Context(), "liar", time.Now, ask)
		v := Judge([]Offset{o}, time.Now(), bounds)
		if to := time.Now().Add(v.Ahead); v.Reject.String() == "" && v.Ahead != 0 && to.Before(made.Add(-time.Minute)) {
			t.Errorf("the clock would be moved to %s", to)
		}
		_ = describe(v.Ahead)
	})
}

// liar is a connection to a time server that answers one thing. With echo it repeats the time that it was asked with, without
// which no answer is believed.
type liar struct {
	net.Conn
	answer []byte
	echo   bool
}

func newLiar(answer []byte, echo bool) *liar {
	one, other := net.Pipe()
	_ = other.Close()
	return &liar{Conn: one, answer: append([]byte(nil), answer...), echo: echo}
}

func (l *liar) Write(b []byte) (int, error) {
	if l.echo && len(l.answer) >= 48 && len(b) >= 48 {
		copy(l.answer[24:32], b[40:48])
		now := uint64(time.Now().Unix()+2208988800) << 32
		for _, at := range []int{16, 32, 40} {
			if binary.BigEndian.Uint64(l.answer[at:]) == 0 {
				binary.BigEndian.PutUint64(l.answer[at:], now)
			}
		}
	}
	return len(b), nil
}

func (l *liar) Read(b []byte) (int, error) { return copy(b, l.answer), nil }

func (*liar) SetDeadline(time.Time) error { return nil }

func (*liar) LocalAddr() net.Addr  { return &net.UDPAddr{} }
func (*liar) RemoteAddr() net.Addr { return &net.UDPAddr{} }

// FuzzFiles reads chrony's settings and the files that certificates are in.
func FuzzFiles(f *testing.F) {
	f.Add([]byte("server ntp.example iburst\npool p\nsourcedir /run/x\n"))
	f.Add([]byte("users:\n- user: {client-certificate-data: AAAA}\n"))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		sources(string(b))
		parse(b)
		inKubeconfig(b)
	})
}
