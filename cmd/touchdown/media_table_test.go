package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tables is a folder with a key, in which media are made.
type tables struct {
	t   *testing.T
	dir string
}

func newTables(t *testing.T) *tables {
	t.Helper()
	b := &tables{t: t, dir: t.TempDir()}
	makesKey(t, b.in("factory"))
	return b
}

func (b *tables) in(name string) string { return filepath.Join(b.dir, name) }

func (b *tables) put(name, text string) string {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.in(name)), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.in(name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return b.in(name)
}

// write runs media write --table and returns its exit code and what it said on standard error.
func (b *tables) write(table, out string, more ...string) (int, string) {
	b.t.Helper()
	var said bytes.Buffer
	root := newRoot(hooks{})
	root.SetOut(&bytes.Buffer{})
	root.SetErr(&said)
	return execute(b.t.Context(), root, append([]string{"media", "write", "--table", table, "--key", b.in("factory.key"), "--out", b.in(out)}, more...)), said.String()
}

// siteOf is a site config in a file. That of a domain ending in .local has a warning.
func siteOf(domain string) string {
	return "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec:\n  clusterName: store1\n  baseDomain: " + domain + "\n"
}

// TestATableIsWarnedOf: warnings about the lines of a table and the files of a folder are printed with their place, those about what all
// lines have in common once.
func TestATableIsWarnedOf(t *testing.T) {
	b := newTables(t)
	table := b.put("sites.csv", "serial,spec.clusterName,spec.baseDomain\nSN1,store1,shop.local\nSN2,store2,shop.example.com\nSN3,store3,shop.local\n")
	code, said := b.write(table, "table")
	if code != exitOK || strings.Count(said, "warning: ") != 2 || !strings.Contains(said, "warning: sites.csv:2:12: spec.baseDomain: ends with .local") || !strings.Contains(said, "warning: sites.csv:4:12: ") {
		t.Errorf("exit %d: %s", code, said)
	}
	common := b.put("common.yaml", siteOf("shop.local"))
	code, said = b.write(b.put("names.csv", "serial,spec.clusterName\nSN1,store1\nSN2,store2\n"), "names", "-f", common)
	if code != exitOK || strings.Count(said, "warning: ") != 1 || !strings.Contains(said, "warning: common.yaml:5:") {
		t.Errorf("exit %d: %s", code, said)
	}
	b.put("folder/SN1.yaml", siteOf("shop.local"))
	if code, said = b.write(b.in("folder"), "configs"); code != exitOK || strings.Count(said, "warning: ") != 1 || !strings.Contains(said, "/folder/SN1.yaml:5:") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// TestOneClusterForTwoMachines: two lines or files with the same cluster name and domain are warned of, by both; a spare machine may have them.
func TestOneClusterForTwoMachines(t *testing.T) {
	b := newTables(t)
	table := b.put("sites.csv", "serial,spec.clusterName,spec.baseDomain\nSN1,store1,shop.example.com\nSN2,store2,shop.example.com\nSN3,store1,shop.example.com\nSN4,store1,other.example.com\n")
	const says = "the cluster store1.shop.example.com is in "
	code, said := b.write(table, "table")
	if code != exitOK || strings.Count(said, "warning: ") != 1 || !strings.Contains(said, "warning: sites.csv:4: "+says+"sites.csv:2, too") {
		t.Errorf("exit %d: %s", code, said)
	}
	one, two := b.put("folder/SN1.yaml", siteOf("shop.example.com")), b.put("folder/SN2.yaml", siteOf("shop.example.com"))
	if code, said = b.write(b.in("folder"), "configs"); code != exitOK || strings.Count(said, "warning: ") != 1 || !strings.Contains(said, "warning: "+two+": "+says+one+", too") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// TestAFolderLeavesNothingOut: what may be a site config and is not taken is told, and nothing is made; the name of the folder is not a pattern.
func TestAFolderLeavesNothingOut(t *testing.T) {
	b := newTables(t)
	good := siteOf("shop.example.com")
	for name, c := range map[string]struct {
		files []string
		says  []string
	}{
		"yml":     {[]string{"SN1.yaml", "SN2.yml", "SN3.YAML"}, []string{"SN2.yml: the name of a site config ends in .yaml", "SN3.YAML: the name"}},
		"case":    {[]string{"SN1.yaml", "sn1.yaml"}, []string{"sn1.yaml: ", "SN1.yaml is for the same serial number"}},
		"nobody":  {[]string{"SN1.yaml", "Default string.yaml"}, []string{"Default string.yaml: it is not named after a serial number: boards that have no"}},
		"nothing": {[]string{"notes.txt"}, []string{"there are 0 files SERIAL.yaml"}},
	} {
		for _, file := range c.files {
			b.put(name+"/"+file, good)
		}
		code, said := b.write(b.in(name), "none")
		for _, says := range c.says {
			if code != exitUsage || !strings.Contains(said, says) {
				t.Errorf("%s: exit %d without %q: %s", name, code, says, said)
			}
		}
	}
	for _, file := range []string{"SN1.yaml", "SN2.yaml"} {
		b.put("wrong/"+file, siteOf("Not OK!"))
	}
	if code, said := b.write(b.in("wrong"), "none"); code != exitUsage || !strings.Contains(said, "SN1.yaml:5:") || !strings.Contains(said, "SN2.yaml:5:") {
		t.Errorf("of two wrong files one is told: %d: %s", code, said)
	}
	if _, err := os.Stat(b.in("none")); err == nil {
		t.Error("something was made")
	}
	b.put("[a]/SN1.yaml", good)
	b.put("[a]/ca.pem", "a file that a site config names\n")
	if code, said := b.write(b.in("[a]"), "brackets"); code != exitOK {
		t.Errorf("a folder with brackets: exit %d: %s", code, said)
	}
}

// TestACutListSaysSo: of many mistakes the first are told, and how many more there are.
func TestACutListSaysSo(t *testing.T) {
	b := newTables(t)
	text := "serial,spec.clusterName,spec.baseDomain\n"
	for i := range maxTold + 7 {
		text += fmt.Sprintf("A/%d,store1,shop.example.com\n", i)
		b.put(fmt.Sprintf("folder/SN%02d.yml", i), "")
	}
	for _, table := range []string{b.put("wrong.csv", text), b.in("folder")} {
		if code, said := b.write(table, "none"); code != exitUsage || !strings.HasSuffix(said, "\nand 7 more\n") || strings.Count(said, "\n") != maxTold+1 {
			t.Errorf("exit %d: %s", code, said)
		}
	}
	text = strings.Join(strings.Split(text, "\n")[:3], "\n") + "\n\"SN9,\n"
	if code, said := b.write(b.put("cut.csv", text), "none"); code != exitUsage || strings.Contains(said, "more") || !strings.Contains(said, "cut.csv:3:1: a serial number has") || !strings.Contains(said, "cut.csv:4:") {
		t.Errorf("behind a line that cannot be read: exit %d: %s", code, said)
	}
}

// TestTablesOfOtherPrograms: a German Excel divides columns by semicolons, which are taken; other text than UTF-8, and an empty file, is
// called that.
func TestTablesOfOtherPrograms(t *testing.T) {
	b := newTables(t)
	semicolons := "\ufeffserial;spec.clusterName;spec.baseDomain;spec.additionalNTPSources\r\nSN1;store1;shop.example.com;192.0.2.1,192.0.2.2\r\n"
	if code, said := b.write(b.put("german.csv", semicolons), "german"); code != exitOK {
		t.Errorf("semicolons: exit %d: %s", code, said)
	}
	wide := "\xff\xfe"
	for _, r := range "serial,spec.clusterName\r\n" {
		wide += string([]byte{byte(r), 0})
	}
	for text, says := range map[string]string{
		"":                                "s.csv: it is empty; its first line names the columns",
		"\ufeff\r\n\r\n":                  "s.csv: it is empty",
		wide:                              "s.csv:1:1: is UTF-16 text; save it as UTF-8",
		"serial,x\nSN1,f\xfcr\n":          "s.csv:2:6: has a byte that is not UTF-8 text (0xfc); save it as UTF-8",
		"serial;a,spec.hostname\n":        `there is no column "serial;a": columns are divided by commas, or all by semicolons; save the table as CSV`,
		"serial\tspec.hostname\nS\tx":     `there is no column "serial\tspec.hostname": columns are divided by commas`,
		"serial;spec.host\nSN1;x\n":       `s.csv:1:8: there is no column "spec.host": it is serial`,
		"serial;spec.hostname\nSN1;x;y\n": "s.csv:2:1: ",
	} {
		if code, said := b.write(b.put("s.csv", text), "none"); code != exitUsage || !strings.Contains(said, says) || strings.Contains(said, "EOF") {
			t.Errorf("%q: exit %d: %s", text, code, said)
		}
	}
}
