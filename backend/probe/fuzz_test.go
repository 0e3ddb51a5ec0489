package probe

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/beevik/ntp"
)

// FuzzProxy asks a proxy that answers whatever it likes.
func FuzzProxy(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 407 \x1b[2J\r\nContent-Length: 9999999999\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 407 \nForged line of a report\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 403 thisisnotforyourreport\r\n\r\n"))
	f.Add([]byte("220 mail.example ESMTP thisisnotforyourreport\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nthisisnotforyourreport\r\n\r\n"))
	f.Add(bytes.Repeat([]byte("x"), 2*longestAnswer))
	f.Add(append([]byte("HTTP/1.1 200 OK\r\n"), bytes.Repeat([]byte("A: b\r\n"), longestAnswer)...))
	f.Add([]byte("HTTP/1.0 200\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n"))
	proxy := &url.URL{Scheme: "http", Host: "proxy.example:3128", User: url.UserPassword("u", "p")}
	f.Fuzz(func(t *testing.T, answer []byte) {
		from := bytes.NewReader(answer)
		c, err := connect(t.Context(), &canned{from: from}, proxy, "quay.io:443", nil)
		if read := len(answer) - from.Len(); read > longestAnswer {
			t.Errorf("%d bytes of an answer are read", read)
		}
		if err != nil {
			if len(err.Error()) > 4<<10 || strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Errorf("the reason is %q", err)
			}
			for _, word := range regexp.MustCompile(`[0-9A-Za-z\x1b]{12,}`).FindAllString(string(answer), -1) {
				if strings.Contains(err.Error(), word) && word != "Authentication" { // of the standard's own words
					t.Errorf("the reason repeats %q: %v", word, err)
				}
			}
			return
		}
		_, _ = io.Copy(io.Discard, c)
	})
}

// canned is a connection whose other end has said all that it will say.
type canned struct {
	net.Conn
	from *bytes.Reader
}

func (c *canned) Read(b []byte) (int, error)       { return c.from.Read(b) }
func (c *canned) Write(b []byte) (int, error)      { return len(b), nil }
func (c *canned) Close() error                     { return nil }
func (c *canned) SetDeadline(time.Time) error      { return nil }
func (c *canned) SetReadDeadline(time.Time) error  { return nil }
func (c *canned) SetWriteDeadline(time.Time) error { return nil }

// FuzzTime asks a time server that answers whatever it likes; with echo it repeats the time that it was asked with.
func FuzzTime(f *testing.F) {
	answer := make([]byte, 48)
	answer[0], answer[1], answer[2], answer[3] = 0x24, 2, 6, 0xec
	f.Add(answer, true)
	interval := bytes.Clone(answer)
	interval[2] = 0x80
	f.Add(interval, true)
	f.Fuzz(func(_ *testing.T, data []byte, echo bool) {
		response, err := queryTime("liar", ntp.QueryOptions{Dialer: func(string, string) (net.Conn, error) {
			return &liar{canned{}, bytes.Clone(data), echo}, nil
		}})
		s := &source{response: response, err: err}
		if r := (&clocks{sources: []*source{s}}); s.good() {
			_ = span(r.trusted().response.ClockOffset)
		}
	})
}

type liar struct {
	canned
	answer []byte
	echo   bool
}

func (l *liar) Read(b []byte) (int, error) { return copy(b, l.answer), nil }

func (l *liar) Write(b []byte) (int, error) {
	if l.echo && len(l.answer) >= 48 && len(b) >= 48 {
		copy(l.answer[24:32], b[40:48])
		copy(l.answer[32:40], b[40:48])
		copy(l.answer[40:48], b[40:48])
	}
	return len(b), nil
}

func (*liar) LocalAddr() net.Addr  { return &net.UDPAddr{} }
func (*liar) RemoteAddr() net.Addr { return &net.UDPAddr{} }
