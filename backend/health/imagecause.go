package health

import (
	"strings"

	"touchdown/backend/message"
)

// causes of a failed pull, by words of CRI-O's message, the surest first.
var causes = []struct {
	words string
	says  message.Text
}{
	{"no space left on device", message.T("the disk is full")},
	{"toomanyrequests", message.T("the registry limits the number of requests")},
	{"unauthorized", message.T("the registry refuses the pull secret")},
	{"authentication required", message.T("the registry refuses the pull secret")},
	{"denied", message.T("the pull secret does not allow this image")},
	{"manifest unknown", message.T("the registry does not have it")},
	{"name unknown", message.T("the registry does not have it")},
	{"not found", message.T("the registry does not have it")},
	{"x509:", message.T("the registry's certificate is not trusted")},
	{"no such host", message.T("the registry's name is not known")},
	{"server misbehaving", message.T("the name servers do not answer")},
	{"connection refused", message.T("the registry does not answer")},
	{"i/o timeout", message.T("the registry does not answer")},
	{"deadline exceeded", message.T("the registry does not answer")},
	{"no route to host", message.T("the registry cannot be reached")},
	{"network is unreachable", message.T("the registry cannot be reached")},
	{"signature", message.T("its signature is not accepted")},
}

// pullCause says in a few words why an image could not be pulled; no text when the message does not tell.
func pullCause(said string) message.Text {
	said = strings.ToLower(said)
	for _, c := range causes {
		if strings.Contains(said, c.words) {
			return c.says
		}
	}
	return message.Text{}
}
