package site

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAccepted(t *testing.T) {
	want := map[string]string{"spec.clusterName": "a", "spec.baseDomain": "b.c"}
	for name, doc := range map[string]string{
		"plain":           head + "spec: {clusterName: a, baseDomain: b.c}\n",
		"CR LF":           strings.ReplaceAll(head+"spec:\n  clusterName: a\n  baseDomain: b.c\n", "\n", "\r\n"),
		"byte order mark": "\ufeff" + head + "spec: {clusterName: a, baseDomain: b.c}\n",
		"document marks":  "---\n" + head + "spec: {clusterName: a, baseDomain: b.c}\n...\n",
		"JSON":            `{"apiVersion":"touchdown.dev/v1alpha1","kind":"SiteConfig","spec":{"clusterName":"a","baseDomain":"b.c"}}`,
		"JSON with tabs":  "{\n\t\"apiVersion\": \"touchdown.dev/v1alpha1\",\n\t\"kind\": \"SiteConfig\",\n\t\"spec\": {\n\t\t\"clusterName\": \"a\",\n\t\t\"baseDomain\": \"b.c\"\n\t}\n}\n",
		"no line end":     head + "spec: {clusterName: a, baseDomain: b.c}",
		"empty groups":    head + "metadata:\nspec:\n  clusterName: a\n  baseDomain: b.c\n  policy:\n  apiCert: {}\n",
		"empty texts":     head + "metadata: {name: ''}\nspec: {clusterName: a, baseDomain: b.c, pullSecret: ''}\n",
		"spaces":          head + "spec: {clusterName: ' a ', baseDomain: \"b.c\\n\"}\n",
	} {
		c, err := Parse([]byte(doc), "site.yaml", nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for path, value := range want {
			if got, _ := c.Get(path); got != value {
				t.Errorf("%s: %s is %q", name, path, got)
			}
		}
		if c.Sources["spec.policy.allowReboot"] != Default || c.Sources["spec.pullSecret"] != "" {
			t.Errorf("%s: origins %v", name, c.Sources)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret.json"), planted)
	write(t, filepath.Join(dir, "ps.json"), "\ufeff{\"auths\":{}}\r\n")
	for link, target := range map[string]string{
		"inside.json": "ps.json", "out.json": filepath.Join(outside, "secret.json"), "up.json": "../../secret.json", "loop.json": "loop.json", "dir": outside,
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	fix := "; copy the file itself beside the document"
	for file, want := range map[string]string{
		"ps.json": "", "./ps.json": "", "inside.json": "",
		"out.json":        `the file "out.json" is a link that leads out of the document's folder` + fix,
		"up.json":         `the file "up.json" is a link that leads out of the document's folder` + fix,
		"dir/secret.json": `the file "dir/secret.json" is a link that leads out of the document's folder` + fix,
		"loop.json":       `the file "loop.json" cannot be read: too many levels of symbolic links`,
		"pipe":            `the file "pipe" is not a regular file; name a regular file`,
		".":               `the file "." is not a regular file; name a regular file`,
	} {
		name := filepath.Join(dir, "site.yaml")
		write(t, name, head+"spec:\n  pullSecretFile: "+file+"\n")
		c, err := Load(name)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", file, err)
		case want == "":
			if c.Spec.PullSecret != `{"auths":{}}` || c.Sources["spec.pullSecret"] != "file "+file {
				t.Errorf("%s: %q from %q", file, string(c.Spec.PullSecret), c.Sources["spec.pullSecret"])
			}
		case err == nil || err.Error() != "site.yaml:4:19: spec.pullSecretFile: "+want:
			t.Errorf("%s:\n got %v\nwant %s", file, err, want)
		}
	}
}

func TestLoadOfTheDocumentItself(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "large"), strings.Repeat("#", maxDocument+1))
	for name, want := range map[string]string{
		"nowhere":      "nowhere: does not exist; check the name, upper and lower case too",
		"nowhere/site": "site: cannot be read: no such file or directory",
		"large":        "large: is larger than 1024 KiB; check that it is the right file",
		".":            filepath.Base(dir) + ": is not a regular file; name a regular file",
	} {
		_, err := Load(filepath.Join(dir, name))
		var one *Error
		if err == nil || err.Error() != want || !errors.As(err, &one) {
			t.Errorf("%s:\n got %v\nwant %s", name, err, want)
		}
	}
}

// TestSlowDocuments holds that no document within the limit takes long, whatever is in it. Each takes a few seconds at most
// where little else runs; what grows with the square of a document's size would take hours.
func TestSlowDocuments(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, maxDocument/len(s)-1) }
	for name, doc := range map[string]string{
		"comments":     fill("# c\n"),
		"keys":         fill("a: b\n"),
		"new keys":     head + "spec:\n" + fill("  baseDomian: b\n"),
		"brackets":     fill("["),
		"open maps":    fill("{"),
		"open keys":    fill("? "),
		"dashes":       fill("- "),
		"lists":        fill("[],"),
		"quotes":       fill("\""),
		"one text":     head + "spec: {clusterName: " + fill("x"),
		"flow keys":    "{" + fill("a,"),
		"line ends":    fill("\n") + "x",
		"folded":       "a: >\n" + fill(" x\n\n"),
		"anchors":      fill("&a "),
		"aliases":      "a: &a 1\n" + fill("- *a\n"),
		"long key":     fill("k") + ": v",
		"documents":    fill("---\n"),
		"bad at end":   fill("a: b\n") + "\t[",
		"below search": strings.Repeat("a: b\n", (63<<10)/5) + "@",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			if _, err := Parse([]byte(doc[:min(len(doc), maxDocument)]), "x", nil); err == nil {
				t.Error("accepted")
			}
			if took := time.Since(start); took > 5*time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}
