// Package daemon holds what the product says about MachineConfigs against the code of the Machine Config Daemon, which decides on a
// real node: pkg/daemon of the machine-config-operator, of the version in decide/go.mod. `make bench-daemon` builds it.
package daemon

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/message"
	"touchdown/backend/nodeconfig"
	"touchdown/test/wait"
)

type question struct {
	Have, Want []config
	Policies   json.RawMessage `json:",omitempty"` // nodeDisruptionPolicy of the cluster
}

type config struct {
	Name   string
	Config any
}

type answer struct {
	Error                         string
	Files, Units, Actions, Before []string
	Policies                      json.RawMessage // in force
	Rendered                      ignition        // what is wanted
}

// decide asks the daemon's code.
func decide(t *testing.T, questions []question) []answer {
	t.Helper()
	return ask[answer](t, questions, "bench-daemon", "decide")
}

// ask has a program of the bench, which the target of make builds, answer each question.
func ask[A any](t *testing.T, questions []question, target, name string, args ...string) []A {
	t.Helper()
	wait.Slow(t)
	program, err := filepath.Abs("../../../.cache/bench/bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		wait.Unable(t, "%v: run make %s", err, target)
	}
	var in, complaint bytes.Buffer
	for _, q := range questions {
		if err := json.NewEncoder(&in).Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin, cmd.Stderr = &in, &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint.String())
	}
	var answers []A
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var a A
		if err := d.Decode(&a); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers
}

// changes are what the batch of the site can change on a node, as the product names it, and as Ignition has it.
var changes = []nodeconfig.Change{
	{What: message.T("Time servers"), File: "/etc/chrony.conf"},
	{What: message.T("Image store"), File: "/etc/containers/storage.conf"},
	{What: message.T("Images by digest"), File: "/etc/containers/registries.conf"},
	{What: message.T("Registry credentials"), File: "/var/lib/kubelet/config.json"},
	{What: message.T("Trusted authorities"), File: "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt"},
	{What: message.T("Proxy"), File: "/etc/mco/proxy.env"},
	{What: message.T("Proxy, the first"), File: "/etc/mco/proxy.env", Units: []string{"crio.service", "kubelet.service"}},
	{What: message.T("SSH keys"), Login: true},
}

// asked is a change as the daemon sees it.
func asked(ch nodeconfig.Change, policies json.RawMessage) question {
	state := func(text string) []config {
		var files, units []any
		if ch.File != "" {
			files = append(files, map[string]any{
				"path": ch.File, "mode": 0o644, "overwrite": true,
				"contents": map[string]any{"source": "data:;base64," + base64.StdEncoding.EncodeToString([]byte("# "+text+"\n"))},
			})
		}
		for _, u := range ch.Units {
			units = append(units, map[string]any{"name": u, "dropins": []any{map[string]any{"name": "10-mco-default-env.conf", "contents": "# " + text}}})
		}
		ignition := map[string]any{
			"ignition": map[string]any{"version": "3.2.0"}, "storage": map[string]any{"files": files}, "systemd": map[string]any{"units": units},
		}
		if ch.Login {
			ignition["passwd"] = map[string]any{"users": []any{map[string]any{"name": "core", "sshAuthorizedKeys": []any{"ssh-ed25519 AAAA " + text}}}}
		}
		return []config{{Name: "99-master-site", Config: ignition}}
	}
	return question{Have: state("before"), Want: state("after"), Policies: policies}
}

// drawn is a node disruption policy as some cluster may have it.
func drawn(r *rand.Rand) json.RawMessage {
	action := func() any {
		return []any{
			[]any{map[string]any{"type": "None"}},
			[]any{map[string]any{"type": "Reboot"}},
			[]any{map[string]any{"type": "DaemonReload"}, map[string]any{"type": "Restart", "restart": map[string]any{"serviceName": "crio.service"}}},
		}[r.IntN(3)]
	}
	some := func(key string, all ...string) []any {
		var out []any
		for _, name := range all {
			if r.IntN(3) == 0 {
				out = append(out, map[string]any{key: name, "actions": action()})
			}
		}
		return out
	}
	policy := map[string]any{
		"files": some("path", "/etc", "/etc/", "/etc/chrony.conf", "/etc/chrony", "/etc/containers", "/etc/containers/registries.conf", "/etc/containers/storage.conf",
			"/etc/mco", "/etc/mco/proxy.env", "/etc/pki/ca-trust", "/var/lib/kubelet", "/var/lib/kubelet/config.json", "/"),
		"units": some("name", "crio.service", "kubelet.service"),
	}
	if r.IntN(3) == 0 {
		policy["sshkey"] = map[string]any{"actions": action()}
	}
	text, err := json.Marshal(policy)
	if err != nil {
		panic(err) // maps and texts always have a JSON form
	}
	return text
}

// TestTheReviewNamesEachReboot: with any policies the product says that the node reboots exactly where the daemon would.
func TestTheReviewNamesEachReboot(t *testing.T) {
	const seed, clusters = 13, 60
	r := rand.New(rand.NewPCG(seed, seed))
	policies := []json.RawMessage{nil}
	for range clusters {
		policies = append(policies, drawn(r))
	}
	var questions []question
	for _, p := range policies {
		for _, ch := range changes {
			questions = append(questions, asked(ch, p))
		}
	}
	answers := decide(t, questions)
	reboots := 0
	for i, p := range policies {
		api, c := kubetest.New(t)
		inForce := answers[i*len(changes)].Policies
		api.Put("/apis/operator.openshift.io/v1/machineconfigurations/cluster", fmt.Sprintf(`{"status":{"nodeDisruptionPolicyStatus":{"clusterPolicies":%s}}}`, inForce))
		for k, ch := range changes {
			a := answers[i*len(changes)+k]
			if a.Error != "" {
				t.Fatalf("%s: the daemon refuses it: %s", ch.What, a.Error)
			}
			if want := ch.File == ""; (len(a.Files) == 0) != want {
				t.Fatalf("%s: the daemon sees changes of %q", ch.What, a.Files)
			}
			daemon := slices.Contains(a.Actions, "Reboot")
			if product := told(t, c, ch); product != daemon {
				t.Errorf("%s: the product says %t, the daemon %t (%v), with %s", ch.What, product, daemon, a.Actions, p)
			}
			if daemon {
				reboots++
			}
		}
	}
	t.Logf("%d of %d changes reboot the node", reboots, len(questions))
}

// TestReleasesWithoutPolicies: there the product says that the node reboots exactly where the daemon would.
func TestReleasesWithoutPolicies(t *testing.T) {
	var questions []question
	for _, ch := range changes {
		questions = append(questions, asked(ch, nil))
	}
	_, c := kubetest.New(t)
	for i, a := range decide(t, questions) {
		ch := changes[i]
		if daemon := slices.Contains(a.Before, "reboot"); a.Error != "" || daemon != told(t, c, ch) {
			t.Errorf("%s: the daemon %v, the product otherwise %s", ch.What, a.Before, a.Error)
		}
	}
}

// told is whether the product says that the node reboots for a change.
func told(t *testing.T, c *kube.Cluster, ch nodeconfig.Change) bool {
	t.Helper()
	ch.Pending = true
	list, err := nodeconfig.Reboots(t.Context(), c, []nodeconfig.Change{ch})
	if err != nil {
		t.Fatal(err)
	}
	return len(list) > 0
}

// TestTheBakeIsTaken: the daemon takes the bake's MachineConfigs and their removal, for any address of the installation, and reboots
// once for all of them. The policies that the bake sets leave out that reboot for what the site changes.
func TestTheBakeIsTaken(t *testing.T) {
	api, c := kubetest.New(t)
	const disruption = "/apis/operator.openshift.io/v1/machineconfigurations/cluster"
	api.Put(disruption, `{"spec":{"managementState":"Managed"}}`)
	if there, err := factory.SetDisruptionPolicies(t.Context(), c, func(kube.Ref, []byte) error { return nil }); err != nil || !there {
		t.Fatal(there, err)
	}
	policies := json.RawMessage(api.Get(disruption, "spec", "nodeDisruptionPolicy"))
	var names []string
	var questions []question
	for _, addresses := range installed {
		baked := bakedAt(t, addresses)
		names = append(names, fmt.Sprint("bake at ", addresses), fmt.Sprint("unbake at ", addresses))
		questions = append(questions, question{Want: baked, Policies: policies}, question{Have: baked, Policies: policies})
	}
	for _, ch := range changes {
		if slices.Contains(nodeconfig.Baked(), ch.File) {
			names = append(names, "no reboot: "+ch.What.String())
			questions = append(questions, asked(ch, policies))
		}
	}
	for i, a := range decide(t, questions) {
		noReboot := strings.HasPrefix(names[i], "no reboot: ")
		if a.Error != "" || slices.Contains(a.Actions, "Reboot") == noReboot || len(a.Files)+len(a.Units) == 0 {
			t.Errorf("%s: %v, files %v, units %v %s", names[i], a.Actions, a.Files, a.Units, a.Error)
		}
	}
}

// installed are addresses that a cluster may be installed with.
var installed = [][]string{host.DefaultOwn.Texts(), {"10.1.2.3"}, {"192.0.2.10", "2001:db8::10"}}

// bakedAt are the bake's MachineConfigs.
func bakedAt(t *testing.T, addresses []string) (baked []config) {
	t.Helper()
	own, err := host.NewOwn(addresses)
	if err != nil {
		t.Fatal(err)
	}
	all, err := factory.Manifests(own)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		var applied struct {
			Spec struct{ Config map[string]any }
		}
		if err := yaml.Unmarshal(m.YAML, &applied); err != nil {
			t.Fatal(err)
		}
		baked = append(baked, config{m.Name, applied.Spec.Config})
	}
	return baked
}
