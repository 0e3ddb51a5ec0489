package operators

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inside names the file in which a test notes each real part that it starts. It also tells the test that it runs in the namespaces that
// it asked for.
const inside = "TOUCHDOWN_OPERATORS_ALONE"

// resultFile is what TestRealOperators leaves, relative to this package.
const resultFile = "../../../.cache/bench/real-operators.json"

// partRan is a real part that was run, and by which tests.
type partRan struct {
	Part  string   `json:"part"`
	Of    string   `json:"of"`
	Tests []string `json:"tests"`
	Why   string   `json:"notInTheComparedMove,omitempty"`
}

// otherwise says why a part takes no part in the move of TestRealOperators.
var otherwise = map[string]string{
	"authentication": "it never becomes available on the bench, which has no pods of the login and of the OAuth API, so that a move would wait without end; TestOrders runs its moves and undos with it, and goes by kube-apiserver's revision",
	"oauth-server":   "nobody logs in during a move; TestOAuthServer logs in before and after the hand-over's new password",
	"machine-config": "a move of the names writes no MachineConfig; its tests land and undo the node's configuration",
}

// notRun are parts of OpenShift in the move that no test runs for real, and why.
var notRun = map[string]string{
	"haproxy and the traffic":                        "the router's program is real and admits the routes; in haproxy's place is a script that tells of a reload, and the bench answers on port 443",
	"kubelet and pods of the operators' Deployments": "the bench plays them: an installer pod, a mirror pod and a roll-out are a status that it writes",
}

// noteRun notes that a test started a real part.
func noteRun(t *testing.T, name string) {
	t.Helper()
	file, err := os.OpenFile(os.Getenv(inside), os.O_APPEND|os.O_WRONLY, 0)
	fatal(t, err)
	test, _, _ := strings.Cut(t.Name(), "/")
	_, err = fmt.Fprintln(file, name, test)
	fatal(t, err)
	fatal(t, file.Close())
}

// partsOf reads what was noted. Programs are those of operators.lock, or come with the machine-config-operator's module.
func partsOf(noted, lock string) []partRan {
	found := map[string]*partRan{}
	for line := range strings.Lines(noted) {
		name, test, _ := strings.Cut(strings.TrimSpace(line), " ")
		p := found[name]
		if p == nil {
			p = &partRan{Part: name, Of: "the module in controller/go.mod", Why: otherwise[name]}
			found[name] = p
		}
		if !slices.Contains(p.Tests, test) {
			p.Tests = append(p.Tests, test)
		}
	}
	for line := range strings.Lines(lock) {
		if f := strings.Fields(line); len(f) > 2 && found[f[0]] != nil {
			found[f[0]].Of = "openshift/" + f[1] + " " + f[2]
		}
	}
	var all []partRan
	for _, name := range slices.Sorted(maps.Keys(found)) {
		slices.Sort(found[name].Tests)
		all = append(all, *found[name])
	}
	return all
}

// tellWhatRan prints the real parts, and adds them to the result of this run where it has one.
func tellWhatRan(noted string, compared bool) error {
	text, err := os.ReadFile(noted)
	if err != nil {
		return err
	}
	lock, err := os.ReadFile("operators.lock")
	if err != nil {
		return err
	}
	ran := partsOf(string(text), string(lock))
	for _, p := range ran {
		fmt.Printf("real: %s (%s) in %s\n", p.Part, p.Of, strings.Join(p.Tests, ", "))
		if p.Why != "" {
			fmt.Printf("  not in the compared move: %s\n", p.Why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(notRun)) {
		fmt.Printf("not real: %s\n  %s\n", name, notRun[name])
	}
	if !compared || !slices.ContainsFunc(ran, func(p partRan) bool { return slices.Contains(p.Tests, lanes[0][0]) }) {
		return nil
	}
	var r result
	text, err = os.ReadFile(resultFile)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return fmt.Errorf("the result of TestRealOperators: %w", err)
	}
	r.Ran, r.NotRun = ran, notRun
	return r.write()
}

// write leaves the result in the bench's cache.
func (r result) write() error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(resultFile, append(text, '\n'), fs.FileMode(0o600))
}

// TestEveryPartThatRanIsNamed: whatever the tests start appears in the result, under its commit and with all of its tests; what the
// compared move does without is told why.
func TestEveryPartThatRanIsNamed(t *testing.T) {
	lock, err := os.ReadFile("operators.lock")
	fatal(t, err)
	noted := ""
	for name := range start {
		noted += name + " TestB\n" + name + " TestA\n" + name + " TestB\n"
	}
	ran := partsOf(noted, string(lock))
	if len(ran) != len(start) {
		t.Errorf("%d parts of %d", len(ran), len(start))
	}
	for _, p := range ran {
		if got := strings.Join(p.Tests, " "); got != "TestA TestB" || !strings.Contains(p.Of, " ") {
			t.Errorf("%+v", p)
		}
		if slices.Contains(compared, p.Part) != (p.Why == "") {
			t.Errorf("%s is in the compared move, or it is told why not: %q", p.Part, p.Why)
		}
	}
	file := filepath.Join(t.TempDir(), "ran")
	fatal(t, os.WriteFile(file, nil, 0o600))
	t.Setenv(inside, file)
	noteRun(t, "ingress")
	noteRun(t, "console")
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "ingress "+t.Name()+"\nconsole "+t.Name()+"\n" {
		t.Errorf("%v %q", err, text)
	}
}
