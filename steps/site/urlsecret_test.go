package site

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// TestURLsKeepTheirSecrets: wherever a URL is given, right or wrong there, what stands in front of its @ and in its query comes back in no
// error and in no warning. A path does: it names a repository or a page, and `touchdown site explain` says so.
func TestURLsKeepTheirSecrets(t *testing.T) {
	const password, token = "Qzk7Wxj9", "Jv4pLm2t"
	shapes := []string{
		"https://user:%s@registry.example/a/b?sig=%s", "user:%s@registry.example/a?sig=%s", "https://%[1]s@registry.example?x=a@b&sig=%[2]s",
		"https://user:%s/x@registry.example#%s", "https://us?er:%s@registry.example/?%s", "http:/user:%s@registry.example/%%zz?%s",
		"https://user:%s@registry.example:99999/A?sig=%s", "registry.example/%[1]s@x?sig=%[2]s", "ftp://user:%s@[::1/?a=1&sig=%s", "http://user:%s@registry.example/a:b?%s@sha256:x",
		"*.user:%s@registry.example?%s", "//user:%s@registry_example?sig=%s", "user:%s@?%s", " https://user:%s@registry.example ?%s",
	}
	const head = "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\n"
	tell := func(path, value string, err error) {
		if err != nil && (strings.Contains(err.Error(), password) || strings.Contains(err.Error(), token)) {
			t.Errorf("%s of %q: %v", path, value, err)
		}
	}
	tried := 0
	for _, shape := range shapes {
		value := fmt.Sprintf(shape, password, token)
		for _, path := range New().Paths() {
			if path == "spec.console.pin" { // its hash takes a while, and is all that is kept
				continue
			}
			c := New()
			err := c.Set(path, value)
			tell(path, value, err)
			errs, warnings := c.Validate(time.Now())
			tell(path, value, append(errs, warnings...).Err())
			_, err = Parse([]byte(head+nested(t, path, value)), "site.yaml", nil)
			tell(path, value, err)
			tried++
		}
		for _, path := range []string{"spec.imageDigestMirrors", "spec.imageTagMirrors"} {
			for _, text := range []string{
				"- {source: quay.io/a, mirrors: [%q]}\n", "- {source: %q, mirrors: [registry.example]}\n", "- {source: quay.io/a, mirrors: %q}\n", "- {source: quay.io/a, %q: x}\n",
				"- {source: quay.io/a, mirrors: [registry.example], mirrorSourcePolicy: %q}\n",
			} {
				text = fmt.Sprintf(text, value)
				tell(path, text, New().Set(path, text))
			}
		}
	}
	if tried < 500 {
		t.Errorf("%d values tried", tried)
	}
}

// nested is a document with a value at a path.
func nested(t *testing.T, path, value string) string {
	t.Helper()
	var doc any = value
	for _, key := range slices.Backward(strings.Split(path, ".")) {
		doc = map[string]any{key: doc}
	}
	text, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
