package selinux_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/factory"
)

// script is a program of the bake that is text.
type script struct {
	text    string
	domains []string // in which it runs
}

// scriptsOf are the scripts of the bake. A unit or NetworkManager's dispatcher runs each, or another script does.
func scriptsOf(files []factory.File) map[string]script {
	all := map[string]script{}
	for _, f := range files {
		if strings.HasPrefix(string(f.Data), "#!") {
			domain := "unconfined_service_t"
			if strings.HasPrefix(f.Path, dispatcherDir) {
				domain = "NetworkManager_dispatcher_custom_t"
			}
			all[f.Path] = script{string(f.Data), []string{domain}}
		}
	}
	for caller, by := range all {
		for called, s := range all {
			if caller != called && strings.Contains(code(by.text), called) && !slices.Contains(s.domains, by.domains[0]) {
				s.domains = append(s.domains, by.domains[0])
				all[called] = s
			}
		}
	}
	return all
}

var (
	comment = regexp.MustCompile(`(?m)^\s*#.*$|\s# .*$`)
	quoted  = regexp.MustCompile(`'[^']*'|echo "[^"$]*"`)
	// A path that a script names, with what it puts in for a variable cut off.
	named = regexp.MustCompile(`(?:^|[\s"'=<>:(])(/(?:bin|boot|dev|etc|home|opt|proc|root|run|sbin|sys|tmp|usr|var)/[A-Za-z0-9._/@+-]*)`)
	// The word where a shell expects a command; a "=" behind it makes it a variable.
	command = regexp.MustCompile(`(?m)(?:^|\$\(|\(|[;&|]|\{\s)\s*(?:(?:!|then|do|else|if|exec|while)\s+|[A-Za-z_]+=[^\s$(]*\s+)*([a-z][a-z0-9_.-]*|/[A-Za-z0-9/._-]+)(\+?=)?`)
	// What stands before the ")" of a case is not a command.
	branch = regexp.MustCompile(`(?m)^\s*[a-z0-9-]+(?: \| [a-z0-9-]+)*\)`)
)

// code is a script without its comments, each command on one line.
func code(text string) string {
	return strings.ReplaceAll(comment.ReplaceAllString(text, ""), "\\\n", " ")
}

// shell are the words of bash that stand where a command does.
var shell = strings.Fields(`case esac if then else elif fi for while do done in return exit local echo printf read set shift trap
	exec continue break true false test kill`)

var function = regexp.MustCompile(`(?m)^([a-z_]+)\(\) \{`)

// missing are the programs and paths of a script of which uses.txt says nothing.
func missing(name, text string, uses []use) []string {
	text = code(text)
	var out, own []string
	for _, m := range function.FindAllStringSubmatch(text, -1) {
		own = append(own, m[1])
	}
	says := func(verbs func(string) bool, what func(string) bool) bool {
		return slices.ContainsFunc(uses, func(u use) bool { return u.who == name && verbs(u.verb) && what(u.what) })
	}
	runs := func(verb string) bool { return strings.HasPrefix(verb, "execute") }
	commands := branch.ReplaceAllString(quoted.ReplaceAllString(text, "''"), "")
	for _, m := range command.FindAllStringSubmatch(commands, -1) {
		if m[2] != "" || slices.Contains(shell, m[1]) || slices.Contains(own, m[1]) {
			continue
		}
		if !says(runs, func(what string) bool { return what == m[1] || path.Base(what) == m[1] }) {
			out = append(out, "runs "+m[1])
		}
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		file := strings.TrimRight(m[1], "/.")
		if file == "/dev/null" || file == name {
			continue
		}
		if !says(func(string) bool { return true }, func(what string) bool { return strings.HasPrefix(what, file) }) {
			out = append(out, "names "+file)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestUsesAreWhole: uses.txt has every program that a script of the bake runs and every path that it names.
func TestUsesAreWhole(t *testing.T) {
	uses := readUses(t)
	for name, s := range scriptsOf(files(t)) {
		for _, what := range missing(name, s.text, uses) {
			t.Errorf("%s %s, of which uses.txt says nothing", name, what)
		}
	}
}

// TestUsesAreTrue: a script runs what uses.txt says it does, so that nobody takes restorecon out of one and leaves its effect.
func TestUsesAreTrue(t *testing.T) {
	uses, scripts := readUses(t), scriptsOf(files(t))
	for _, u := range uses {
		s, is := scripts[u.who]
		switch {
		case !is:
		case strings.HasPrefix(u.verb, "execute") && !regexp.MustCompile(`\b`+regexp.QuoteMeta(path.Base(u.what))+`\b`).MatchString(withFirst(s.text)):
			t.Errorf("%s does not run %s", u.who, u.what)
		case u.verb == "relabel" && !strings.Contains(withFirst(s.text), "/usr/sbin/restorecon"):
			t.Errorf("%s does not run restorecon for %s", u.who, u.what)
		}
	}
}

// withFirst is the code of a script with its first line.
func withFirst(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	return first + "\n" + code(rest)
}

// TestUsesThatAreMissing: a program or a path that someone adds to a script is noticed.
func TestUsesThatAreMissing(t *testing.T) {
	uses := []use{{"/s", "execute", "/usr/sbin/ip"}, {"/s", "read", "/etc/known"}}
	for text, want := range map[string]string{
		"ip addr":                    "",
		"x=$(mktemp /etc/known.XX)":  "names /etc/known.XX runs mktemp",
		"if nmcli up; then :; fi":    "runs nmcli",
		"ip addr | awk '{ print }'":  "runs awk",
		"echo 1 >/proc/sys/x":        "names /proc/sys/x",
		". /etc/known":               "",
		"[ -r /etc/other ] && ip a":  "names /etc/other",
		"# see /etc/other and nmcli": "",
		"exec /usr/local/bin/other":  "names /usr/local/bin/other runs /usr/local/bin/other",
	} {
		if got := strings.Join(missing("/s", "#!/bin/bash\n"+text+"\n", append(uses, use{"/s", "execute", "/bin/bash"})), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
