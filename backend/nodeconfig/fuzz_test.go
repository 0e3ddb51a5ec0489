package nodeconfig

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	ignition "github.com/coreos/ignition/v2/config/v3_2"
)

// directives reads a chrony.conf as chronyd does (conf.c, CPS_NormalizeLine): a directive a line, in words; what follows one of
// four characters at the start of a line is a comment.
func directives(conf string) (all [][]string) {
	for line := range strings.SplitSeq(conf, "\n") {
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\v\f", r) })
		if len(words) > 0 && !strings.ContainsAny(words[0][:1], "!;#%") {
			all = append(all, words)
		}
	}
	return all
}

// FuzzChrony adds any text as a time server: chronyd then reads the same as before and that server, or the text is refused.
func FuzzChrony(f *testing.F) {
	for _, server := range []string{
		"ntp.example.com", "198.51.100.123", "2001:db8::1", "", "a b", "a iburst\nallow all", "a\nmailonchange root 1", "#a", "!a", "a#", "a\tb", "\u00fc", "a\rb", "-a", "fe80::1%eth0", "$(id)",
	} {
		f.Add("server b iburst\nmakestep 1 3\n", server)
		f.Add("pool c", server)
		f.Add("", server)
	}
	f.Fuzz(func(t *testing.T, conf, server string) {
		got, err := AddSources(conf, []string{server})
		if err != nil || slices.Contains(Sources(conf), server) {
			return
		}
		before := directives(conf)
		if conf == "" {
			before = directives(freshChrony)
		}
		after := directives(got)
		if len(after) != len(before)+1 || !slices.Equal(after[len(after)-1], []string{"server", server, "iburst"}) {
			t.Errorf("%q with %q becomes %q", conf, server, got)
		}
	})
}

// FuzzIgnition reads the documents with Ignition's own parser: files hold what they should, and keys are the keys that were given.
func FuzzIgnition(f *testing.F) {
	for _, text := range []string{"", "a", "ssh-ed25519 AAAA me", "a\nb", "a\n[Service]\n", `"`, "\\u000a", "\x00", "\xff", "data:,x", "\u2028"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, content string) {
		text, err := json.Marshal(fileConfig(chronyFile, content))
		if err != nil {
			t.Fatal(err)
		}
		if parsed, report, err := ignition.Parse(text); err == nil && !report.IsFatal() {
			file := parsed.Storage.Files[0]
			_, encoded, _ := strings.Cut(*file.Contents.Source, ";base64,")
			got, err := base64.StdEncoding.DecodeString(encoded)
			if len(parsed.Storage.Files) != 1 || err != nil || string(got) != content || file.Path != chronyFile {
				t.Errorf("%q: Ignition reads %q (%v)", content, got, err)
			}
		} else {
			t.Errorf("Ignition refuses the file: %v %s", err, report)
		}
		keys, err := keysConfig([]string{content, "ssh-ed25519 AAAA other"})
		if err != nil {
			return
		}
		if text, err = json.Marshal(keys); err != nil {
			t.Fatal(err)
		}
		parsed, report, err := ignition.Parse(text)
		if err != nil || report.IsFatal() || len(parsed.Passwd.Users) != 1 {
			t.Fatalf("Ignition refuses the keys: %v %s", err, report)
		}
		// The Machine Config Operator writes the keys as lines of one file.
		var lines []string
		for _, k := range parsed.Passwd.Users[0].SSHAuthorizedKeys {
			lines = append(lines, strings.FieldsFunc(string(k), func(r rune) bool { return r == '\n' || r == '\r' })...)
		}
		if !slices.Equal(lines, []string{content, "ssh-ed25519 AAAA other"}) {
			t.Errorf("sshd reads %q", lines)
		}
	})
}
