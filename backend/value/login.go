package value

import (
	"encoding/base64"
	"strings"
)

// DecodeAuth reads the auth of a dockerconfigjson: base64 of user:password, with or without padding, as the kubelet and
// containers/image take it (kubernetes, pkg/credentialprovider/config.go; containers/image, pkg/docker/config/config.go). Older
// tools end the password with zero bytes. It returns what is wrong in words that hold nothing of the value, or "".
func DecodeAuth(auth string) (user, password, wrong string) {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(auth, "="))
	if err != nil {
		return "", "", "an auth that is not base64"
	}
	user, password, _ = strings.Cut(string(plain), ":")
	password = strings.TrimRight(password, "\x00")
	if user == "" || password == "" {
		return "", "", "an auth that is not user:password"
	}
	return user, password, ""
}
