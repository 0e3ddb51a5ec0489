package site

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"touchdown/backend/message"
)

// prefixOfSlash turns /64 into 64; anything else stays unchanged. It is for IPv6, which has no netmasks.
func prefixOfSlash(s string) string { return strings.TrimSpace(strings.TrimPrefix(s, "/")) }

// prefixOfNetmask turns 255.255.255.0, /24 and /255.255.255.0 into 24; anything else stays unchanged.
func prefixOfNetmask(s string) string {
	rest := strings.TrimSpace(strings.TrimPrefix(s, "/"))
	if n, ok := ones(rest); ok && n > 0 {
		return strconv.Itoa(n)
	}
	if strings.HasPrefix(s, "/") {
		return rest
	}
	return s
}

// ones is how many ones a netmask begins with; ok is false where other bits follow, or where it is not one at all.
func ones(s string) (n int, ok bool) {
	mask, is := quad(s)
	n = bits.LeadingZeros32(^mask)
	return n, is && mask<<n == 0
}

// quad is an IPv4 address as a number.
func quad(s string) (uint32, bool) {
	addr, err := netip.ParseAddr(s)
	if err != nil || !addr.Is4() {
		return 0, false
	}
	four := addr.As4()
	return binary.BigEndian.Uint32(four[:]), true
}

// noPrefix says why a text is neither the length of a prefix nor a netmask, and what to write instead.
func (e *entry) noPrefix(s string) *Error {
	if e.six() {
		return e.neitherLength()
	}
	usual := message.T("write 24 or 255.255.255.0")
	mask, is := quad(strings.TrimPrefix(s, "/"))
	wild, wildcard := ones(quadText(^mask))
	switch _, prefix, both := withPrefix(s); {
	case both:
		return fault(message.F("write %d here; the address has its own line", prefix), message.T("is an address with its prefix length"))
	case is && wildcard && mask != 0 && mask != ^uint32(0):
		return fault(message.F("write %d", wild), message.T("is the wildcard mask of an access list"))
	case is && mask>>24 == 255:
		return fault(usual, message.T("is not a netmask: a 1 follows a 0 in its bits"))
	case is && mask != 0:
		return fault(usual, message.T("is an address and not a netmask"))
	}
	return e.neitherLength()
}

// six tells whether a prefix length is of IPv6, which has no netmasks.
func (e *entry) six() bool { return strings.Contains(e.Path, ".ipv6.") }

// neitherLength is what is wrong with any text that is not a prefix length.
func (e *entry) neitherLength() *Error {
	if e.six() {
		return fault(message.T("write a number such as 64"), message.T("is not a prefix length"))
	}
	return fault(message.T("write 24 or 255.255.255.0"), message.T("is neither a prefix length nor a netmask"))
}

func quadText(n uint32) string {
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], n)
	return netip.AddrFrom4(four).String()
}

// withPrefix takes an address and the prefix length or netmask behind it apart: 198.51.100.10/24, 198.51.100.10 255.255.255.0.
func withPrefix(s string) (string, int, bool) {
	at := strings.IndexFunc(s, func(r rune) bool { return r == '/' || unicode.IsSpace(r) })
	if at < 0 {
		return "", 0, false
	}
	is, bad := netip.ParseAddr(s[:at])
	length := prefixOfSlash(strings.TrimSpace(s[at:]))
	if is.Is4() {
		length = prefixOfNetmask(strings.TrimSpace(s[at:]))
	}
	n, err := strconv.Atoi(length)
	return is.String(), n, err == nil && bad == nil && n > 0 && n <= is.BitLen() && strconv.Itoa(n) == length
}

// withoutPrefix is what is wrong with the node's own address where its prefix length stands behind it; nil for anything else. One of the
// other family has no use here in any form.
func withoutPrefix(s string, four bool) error {
	addr, prefix, ok := withPrefix(s)
	if !ok {
		return nil
	}
	if _, is4 := quad(addr); is4 != four {
		return hostAddress(addr, four, false)
	}
	return fault(message.F("write %s here, and %d as the prefix length", addr, prefix), message.T("is an address with its prefix length"))
}

// lengthOf is the prefix length that a text means; 0 for none.
func (e *entry) lengthOf(s string) int {
	length := e.tidy(s)
	n, err := strconv.Atoi(length)
	if err != nil || parseableNumber(length) != nil {
		return 0
	}
	return n
}

// noNumber is what is wrong with a text in a document where the number of a prefix length belongs; other is what to say of any text.
func (e *entry) noNumber(s string, other *Error) *Error {
	length := e.lengthOf(s)
	switch _, is := quad(strings.TrimPrefix(s, "/")); {
	case strconv.Itoa(length) == s: // it is in quotes
		return other
	case length > 0 && strings.TrimPrefix(s, "/") == strconv.Itoa(length):
		return fault(message.F("write %d", length), message.T("is a prefix length with a slash"))
	case length > 0:
		return fault(message.F("write %d", length), message.T("is a netmask where a prefix length is expected"))
	case is, strings.ContainsAny(s, "/ "):
		return e.noPrefix(s)
	}
	return other
}
