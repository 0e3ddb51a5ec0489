package offer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"touchdown/backend/problem"
	"touchdown/test/wait"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// file is a file with n bytes that compress badly.
func file(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8(sha256.Sum256([]byte("a bundle"))).Read(data)
	return data
}

// offered is an offer on a port that was free.
func offered(t *testing.T, data []byte, l limits, life time.Duration, more ...netip.Addr) (f *Offer) {
	t.Helper()
	wait.Until(t, "a port that is still free", func() bool {
		free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := netip.MustParseAddrPort(free.Addr().String())
		_ = free.Close()
		f, err = open(t.Context(), Options{
			Name: "touchdown-bundle.tar.gz", Data: data, Addresses: append(more, loopback), Port: at.Port(), Life: life,
			Now: time.Now, Log: slog.New(slog.DiscardHandler), Changed: func() {},
		}, l)
		if err != nil && problem.From(err).Code != "BND-BUSY" {
			t.Fatal(err)
		}
		return err == nil
	})
	t.Cleanup(f.Close)
	return f
}

// TestAnAddressThatIsGone: costs only that address.
func TestAnAddressThatIsGone(t *testing.T) {
	f := offered(t, file(1<<10), usual, Life, netip.MustParseAddr("192.0.2.77"))
	urls := f.View().URLs
	if len(urls) != 1 || !strings.HasPrefix(urls[0], "http://127.0.0.1:") {
		t.Fatalf("%q", urls)
	}
	if status, got := get(t, http.MethodGet, urls[0]); status != http.StatusOK || len(got) != 1<<10 {
		t.Errorf("%d, %d bytes", status, len(got))
	}
}

func get(t *testing.T, method, url string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return 0, nil
	}
	defer answer.Body.Close()
	data, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, data
}

// until waits for what people see of an offer.
func until(t *testing.T, f *Offer, what string, is func(*View) bool) *View {
	t.Helper()
	wait.Until(t, what, func() bool { return is(f.View()) })
	return f.View()
}

func ended(why string) func(*View) bool { return func(v *View) bool { return v.Ended == why } }

// closed tells whether nothing listens where the offer was.
func closed(t *testing.T, f *Offer) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.Split(f.View().URLs[0], "/")[2])
	if err == nil {
		_ = conn.Close()
		t.Error("something still listens")
	}
}

// TestFetchedOnce: whoever has the address gets the whole file, in capitals too; then nothing listens, and it is told who it was.
func TestFetchedOnce(t *testing.T) {
	data := file(3 << 20)
	f := offered(t, data, usual, Life)
	v := f.View()
	at, code, _ := strings.Cut(strings.TrimPrefix(v.URLs[0], "http://"), "/")
	status, got := get(t, http.MethodGet, "http://"+at+"/"+strings.ToUpper(code))
	if status != http.StatusOK || !bytes.Equal(got, data) || v.SHA256 != fmt.Sprintf("%x", sha256.Sum256(got)) || v.Bytes != int64(len(data)) {
		t.Fatalf("status %d, %d bytes of %d", status, len(got), len(data))
	}
	v = until(t, f, "the end", ended(Taken))
	if len(v.Fetches) != 1 || v.Fetches[0].From != "127.0.0.1" || !v.Fetches[0].Whole || v.Fetches[0].Sent != v.Bytes {
		t.Errorf("%+v", v.Fetches)
	}
	f.Close()
	closed(t, f)
	if status, _ := get(t, http.MethodGet, v.URLs[0]); status != 0 {
		t.Errorf("a second time: %d", status)
	}
}

// TestNothingElseIsServed: every other request has one answer without a byte of the file, and the offer lasts.
func TestNothingElseIsServed(t *testing.T) {
	data := file(64 << 10)
	f := offered(t, data, usual, Life)
	base, code, _ := strings.Cut(strings.TrimPrefix(f.View().URLs[0], "http://"), "/")
	wrong := []byte(code)
	wrong[0] = map[bool]byte{true: 'b', false: 'a'}[wrong[0] == 'a']
	requests := []string{
		"HEAD /" + code, "POST /" + code, "PUT /" + code, "DELETE /" + code, "OPTIONS /" + code, "OPTIONS *", "TRACE /" + code, "CONNECT " + base,
		"GET /", "GET /" + string(wrong), "GET /" + code + "/", "GET /" + code[:13], "GET /" + code + "?x=1", "GET //" + code, "GET /x/../" + code, "GET /%2e/" + code,
		"GET /../../../../etc/passwd", "GET /" + code + "/../../etc/passwd", "GET /v1/snapshot", "PRI *", "\x16\x03\x01", "GET  ", "BREW /" + code,
		"GET /" + strings.Repeat("a", 1<<20),
	}
	for _, one := range requests {
		for _, rest := range []string{" HTTP/1.1\r\nHost: x\r\n\r\n", " HTTP/1.0\r\n\r\n"} {
			got := raw(t, base, one+rest)
			if bytes.Contains(got, data[:64]) || bytes.HasPrefix(got, []byte("HTTP/1.1 200 ")) && !strings.HasPrefix(one, "OPTIONS *") {
				t.Errorf("%.40q: %.80q", one, got)
			}
		}
	}
	many := "GET /" + code + " HTTP/1.1\r\nHost: x\r\n"
	for n := range 200 {
		many += fmt.Sprintf("X-%d: %s\r\n", n, strings.Repeat("y", 200))
	}
	if got := raw(t, base, many+"\r\n"); !bytes.HasPrefix(got, []byte("HTTP/1.1 431 ")) {
		t.Errorf("40 kB of headers: %.80q", got)
	}
	if got := raw(t, base, "POST /"+code+" HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"); bytes.Contains(got, data[:64]) {
		t.Error("a body that never comes")
	}
	if v := f.View(); v.Ended != "" || len(v.Fetches) != 0 {
		t.Errorf("%+v", v)
	}
	wait.Until(t, "the file, afterwards", func() bool {
		status, got := get(t, http.MethodGet, f.View().URLs[0])
		return status == http.StatusOK && bytes.Equal(got, data)
	})
}

// raw sends bytes and returns all that comes back. A connection beyond the limit brings nothing, and is tried again: net/http keeps one
// with a bad request for half a second.
func raw(t *testing.T, at, text string) (got []byte) {
	t.Helper()
	wait.Until(t, "an answer", func() bool {
		conn := dialled(t, at)
		defer conn.Close()
		_, _ = io.WriteString(conn, text) // it may be refused before its end
		got, _ = io.ReadAll(conn)
		return len(got) > 0
	})
	return got
}

func dialled(t *testing.T, at string) net.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout(10*time.Second))
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(wait.Timeout(30 * time.Second)))
	return conn
}

// TestWhoHoldsConnections: has some of them, for a moment, and then the file can be fetched.
func TestWhoHoldsConnections(t *testing.T) {
	l := usual
	l.request = 500 * time.Millisecond
	f := offered(t, file(100<<10), l, Life)
	base := strings.Split(f.View().URLs[0], "/")[2]
	var held []net.Conn
	for range perClient {
		conn := dialled(t, base)
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET / HT") // and no more
		held = append(held, conn)
	}
	over := dialled(t, base)
	defer over.Close()
	if got, _ := io.ReadAll(over); len(got) != 0 { // closed, without an answer
		t.Errorf("one too many: %q", got)
	}
	for _, conn := range held {
		_, _ = io.ReadAll(conn) // until the engine closes it
	}
	wait.Until(t, "a free place", func() bool {
		status, _ := get(t, http.MethodGet, f.View().URLs[0])
		return status == http.StatusOK
	})
}

// TestWhoDoesNotRead: loses the connection and ends nothing; what was sent is not a whole file.
func TestWhoDoesNotRead(t *testing.T) {
	l := usual
	l.stall, l.arrive = 300*time.Millisecond, 300*time.Millisecond
	f := offered(t, file(8<<20), l, Life)
	base, code, _ := strings.Cut(strings.TrimPrefix(f.View().URLs[0], "http://"), "/")
	conn := dialled(t, base)
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	_, _ = io.WriteString(conn, "GET /"+code+" HTTP/1.1\r\nHost: x\r\n\r\n")
	v := until(t, f, "the end of the try", func(v *View) bool { return len(v.Fetches) == 1 && v.Fetches[0].Over })
	if v.Ended != "" || v.Fetches[0].Whole || v.Fetches[0].Sent >= v.Bytes {
		t.Errorf("%+v", v)
	}
	wait.Until(t, "the file, for the next one", func() bool { // who is as slow as the first one tries again
		status, got := get(t, http.MethodGet, v.URLs[0])
		return status == http.StatusOK && int64(len(got)) == v.Bytes
	})
}

// TestWhoLeavesEarly: half a file that was acknowledged is not a whole one, and neither is one whose end is not.
func TestWhoLeavesEarly(t *testing.T) {
	f := offered(t, file(8<<20), usual, Life)
	base, code, _ := strings.Cut(strings.TrimPrefix(f.View().URLs[0], "http://"), "/")
	conn := dialled(t, base)
	_, _ = io.WriteString(conn, "GET /"+code+" HTTP/1.1\r\nHost: x\r\n\r\n")
	_, _ = io.ReadFull(conn, make([]byte, 64<<10))
	_ = conn.Close()
	v := until(t, f, "the end of the try", func(v *View) bool { return len(v.Fetches) == 1 && v.Fetches[0].Over })
	if v.Ended != "" || v.Fetches[0].Whole {
		t.Errorf("%+v", v)
	}
}

// TestItEnds: by a person in the middle of a download, and when its time is over. Then nothing listens.
func TestItEnds(t *testing.T) {
	f := offered(t, file(8<<20), usual, Life)
	base, code, _ := strings.Cut(strings.TrimPrefix(f.View().URLs[0], "http://"), "/")
	conn := dialled(t, base)
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /"+code+" HTTP/1.1\r\nHost: x\r\n\r\n")
	until(t, f, "the download", func(v *View) bool { return len(v.Fetches) == 1 && v.Fetches[0].Sent > 0 })
	f.Close()
	if v := f.View(); v.Ended != Withdrawn || v.Fetches[0].Whole || !v.Fetches[0].Over {
		t.Errorf("%+v", v)
	}
	closed(t, f)

	short := offered(t, file(1<<10), usual, 50*time.Millisecond)
	until(t, short, "the end of its time", ended(Late))
	short.Close()
	closed(t, short)
}

// TestWhyNot: a node without an address, one that lost it, and a port that is taken each have their own problem; nothing is left open.
func TestWhyNot(t *testing.T) {
	code := func(o Options) string {
		o.Life, o.Now, o.Log, o.Changed = Life, time.Now, slog.New(slog.DiscardHandler), func() {}
		_, err := Open(t.Context(), o)
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok {
			t.Fatalf("%v", err)
		}
		return p.Code
	}
	if got := code(Options{}); got != "BND-ADDR" {
		t.Error(got)
	}
	if got := code(Options{Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.77")}}); got != "BND-ADDR" {
		t.Error(got)
	}
	first := offered(t, nil, usual, Life)
	at := netip.MustParseAddrPort(strings.Split(first.View().URLs[0], "/")[2])
	if got := code(Options{Addresses: []netip.Addr{loopback}, Port: at.Port()}); got != "BND-BUSY" {
		t.Error(got)
	}
	second := netip.MustParseAddr("127.0.0.2")
	if got := code(Options{Addresses: []netip.Addr{second, loopback}, Port: at.Port()}); got != "BND-BUSY" {
		t.Error(got)
	}
	if conn, err := net.Dial("tcp", netip.AddrPortFrom(second, at.Port()).String()); err == nil {
		_ = conn.Close()
		t.Error("the first of two addresses is still open")
	}
}
