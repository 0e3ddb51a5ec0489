package cri

import (
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Class is why a pull failed, as far as it matters for what to do next.
type Class string

// The classes. CRI passes no codes for them, only the text that the library wrote.
const (
	Gone      Class = "gone"      // the registry does not have it
	Denied    Class = "denied"    // credentials missing or refused
	NoName    Class = "no-name"   // no name server knows the registry
	NoDNS     Class = "no-dns"    // no name server answers
	BadCert   Class = "bad-cert"  // the registry's certificate is not trusted
	NoSpace   Class = "no-space"  // the node's disk is full
	Lied      Class = "lied"      // what came is not what the digest says
	Unsigned  Class = "unsigned"  // the node's policy refuses it
	Foreign   Class = "foreign"   // for another processor
	BadName   Class = "bad-name"  // not a reference
	Busy      Class = "busy"      // the registry asks to be left alone
	Broken    Class = "broken"    // the registry breaks off, or reports its own error
	Away      Class = "away"      // the registry does not answer
	NoRuntime Class = "no-cri-o"  // CRI-O itself is away
	Other     Class = "other"     // none of these
	NotTried  Class = "not-tried" // the disk was full before its turn
)

// signs tell the classes by the words of containers/image, docker/distribution, Go's net and crypto packages and the
// kernel, as CRI-O passes them on. The first that is found counts.
var signs = []struct {
	class Class
	words *regexp.Regexp
}{
	{NoSpace, regexp.MustCompile(`no space left on device|disk quota exceeded`)},
	{Busy, regexp.MustCompile(`too many requests|toomanyrequests|\b429\b`)},
	{Lied, regexp.MustCompile(`digest did not match|does not match provided manifest digest|digest mismatch|doesn't match (?:the )?(?:expected )?digest|does not match digest` +
		`|gzip: invalid|flate: corrupt|archive/tar: invalid|zstd: .*(?:corrupt|invalid|mismatch)|invalid input: magic number mismatch`)},
	{Unsigned, regexp.MustCompile(`signaturevalidationfailed|source image rejected|signature .*(?:required|invalid)`)},
	{BadCert, regexp.MustCompile(`x509:|certificate signed by unknown|tls: failed to verify|certificate has expired`)},
	{Denied, regexp.MustCompile(`unauthorized|authentication required|invalid username/password|access to the requested resource is not authorized|\bdenied\b|\b40[13]\b.*forbidden|status.* 40[13]\b`)},
	{Foreign, regexp.MustCompile(`no image found in (?:image index|manifest list) for`)},
	{Gone, regexp.MustCompile(`manifest unknown|name unknown|repository .*not found|\bnot found\b|status.* 404\b|blob unknown`)},
	{BadName, regexp.MustCompile(`invalid reference format|short-name|repository name must be`)},
	{NoName, regexp.MustCompile(`no such host`)},
	{NoDNS, regexp.MustCompile(`dial tcp: lookup `)},
	{Away, regexp.MustCompile(`connection refused|registryunavailable|i/o timeout|connection timed out|tls handshake timeout|network is unreachable|no route to host`)},
	{Broken, regexp.MustCompile(`nothing arrived any more|connection reset|timeout|timed out|\beof\b|broken pipe|context (?:canceled|deadline exceeded)|status.* 50[0-9]\b|internal server error|bad gateway|service unavailable`)},
	{Gone, regexp.MustCompile(`is blocked in`)}, // the source, by the node's settings: only its mirrors count
}

// mirrors splits what the library says when it tried mirrors first: "(Mirrors also failed: [a: why]\n[b: why]): source: why".
var mirrors = regexp.MustCompile(`(?s)\(mirrors also failed: (.*)\]\): (.*)$`)

// classify tells why a pull failed. Where there are mirrors, they are what a site has, and the source behind them is often out
// of reach for good: so a mirror that may come back counts first, then what a mirror answered, then the source.
func classify(err error) Class {
	switch status.Code(err) {
	case codes.Unavailable:
		return NoRuntime
	case codes.DeadlineExceeded, codes.Canceled: // ours, or someone else's pull of the same image that this one waited for
		return Broken
	}
	said := strings.ToLower(err.Error())
	parts := mirrors.FindStringSubmatch(said)
	if parts == nil || strings.Contains(said, "no space left") {
		return sign(said)
	}
	answer := Other
	for _, one := range strings.Split(parts[1], "]\n[") {
		switch class := sign(one); {
		case class.again():
			return class
		case class != NoName && answer == Other:
			answer = class
		}
	}
	if answer != Other {
		return answer
	}
	return sign(parts[2])
}

func sign(said string) Class {
	for _, s := range signs {
		if s.words.MatchString(said) {
			return s.class
		}
	}
	return Other
}

// again tells whether the same pull may go well later.
func (c Class) again() bool {
	return c == Busy || c == Broken || c == Away || c == NoDNS || c == NoRuntime
}

// tries is how often a pull that fails like this is begun, of at most most. A registry that lost its name or sent a wrong byte
// gets a second chance, because name servers and lines have bad moments; one that is busy too, after the half minute that
// CRI-O waits for it automatically.
func (c Class) tries(most int) int {
	switch {
	case c == NoName, c == Lied, c == Busy:
		return min(2, most)
	case c.again(), c == Other:
		return most
	}
	return 1
}

// told is what people read of a class.
var told = map[Class]struct {
	code    string
	summary func(image string) message.Text
	fix     message.Text
}{
	Gone: {"PUL-MANF", func(n string) message.Text { return message.F("The registry does not have the image %s.", n) }, message.T("Mirror it again; the name and the digest must be these.")},
	Denied: {"PUL-AUTH", func(n string) message.Text {
		return message.F("The registry refuses the node's credentials for the image %s.", n)
	}, message.T("Give a pull secret with credentials for this registry.")},
	NoName: {"PUL-NAME", func(n string) message.Text { return message.F("No name server knows the registry of the image %s.", n) }, message.T("Check the registry's name in the mirror settings, and the site's name servers.")},
	NoDNS: {"PUL-DNS", func(n string) message.Text {
		return message.F("No name server answers when it is asked for the registry of the image %s.", n)
	}, message.T("Check the site's name servers and the way to them, then retry.")},
	BadCert: {"PUL-CERT", func(n string) message.Text {
		return message.F("The registry of the image %s shows a certificate that the node does not trust.", n)
	}, message.T("Check the node's clock, and give the registry's authority (registryCerts).")},
	NoSpace: {"DSK-FULL", func(n string) message.Text {
		return message.F("The disk is full; it ended the pull of the image %s.", n)
	}, message.T("Free some space on /var, then retry: what was pulled stays.")},
	Lied: {"PUL-DGST", func(n string) message.Text {
		return message.F("What the registry sends as the image %s is not what its digest says.", n)
	}, message.T("Mirror the image again; the registry's copy is damaged, or it is the wrong one.")},
	Unsigned: {"PUL-SGN", func(n string) message.Text { return message.F("The node's signature policy refuses the image %s.", n) }, message.T("Mirror the image with its signatures, or change the policy.")},
	Foreign: {"PUL-ARCH", func(n string) message.Text {
		return message.F("The image %s is not made for this node's processor.", n)
	}, message.T("Mirror it for this architecture too.")},
	BadName: {"PUL-REF", func(n string) message.Text {
		return message.F("%s cannot be the name of an image in a registry.", n)
	}, message.T("Correct it where the image is named.")},
	Busy: {"PUL-BUSY", func(n string) message.Text {
		return message.F("The registry of the image %s limits how often it can be asked.", n)
	}, message.T("Wait a few minutes, then retry.")},
	Broken: {"PUL-BRK", func(n string) message.Text {
		return message.F("The registry of the image %s breaks off, or reports an internal error.", n)
	}, message.T("Look at the registry's own log and at the line to it, then retry.")},
	Away:      {"PUL-AWAY", func(n string) message.Text { return message.F("The registry of the image %s does not answer.", n) }, message.T("Check that the registry runs and can be reached from the node, then retry.")},
	NoRuntime: {"CR-AWAY", func(n string) message.Text { return message.F("CRI-O, which pulls the image %s, is not running.", n) }, message.T("Look at systemctl status crio, then retry.")},
	Other:     {"PUL-ERR", func(n string) message.Text { return message.F("The image %s could not be pulled.", n) }, message.T("Retry; if it fails again, its cause is in the log of CRI-O.")},
	NotTried: {"DSK-FULL", func(n string) message.Text {
		return message.F("The image %s was not pulled: the disk was full before its turn.", n)
	}, message.T("Free some space on /var, then retry.")},
}

// problem tells a person why an image is not there. err's text is one that was masked.
func (c Class) problem(name string, err error) *problem.Problem {
	t := told[c]
	return &problem.Problem{Code: t.code, Summary: t.summary(name), Fix: t.fix, Err: err}
}
