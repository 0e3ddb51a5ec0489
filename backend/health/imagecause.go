package health

import "strings"

// causes of a failed pull, by words of CRI-O's message, the surest first.
var causes = []struct{ words, says string }{
	{"no space left on device", "the disk is full"},
	{"toomanyrequests", "the registry limits us"},
	{"unauthorized", "the registry refuses the pull secret"},
	{"authentication required", "the registry refuses the pull secret"},
	{"denied", "the pull secret does not allow this image"},
	{"manifest unknown", "the registry does not have it"},
	{"name unknown", "the registry does not have it"},
	{"not found", "the registry does not have it"},
	{"x509:", "the registry's certificate is not trusted"},
	{"no such host", "the registry's name is not known"},
	{"server misbehaving", "the name servers do not answer"},
	{"connection refused", "the registry does not answer"},
	{"i/o timeout", "the registry does not answer"},
	{"deadline exceeded", "the registry does not answer"},
	{"no route to host", "the registry cannot be reached"},
	{"network is unreachable", "the registry cannot be reached"},
	{"signature", "its signature is not accepted"},
}

// pullCause says in a few words why an image could not be pulled; "" when the message does not tell.
func pullCause(message string) string {
	message = strings.ToLower(message)
	for _, c := range causes {
		if strings.Contains(message, c.words) {
			return c.says
		}
	}
	return ""
}
