package site

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	nodeyaml "sigs.k8s.io/yaml"
)

// TestTheJudgeReadsAsTheNode: a plain value means to the judge what it means to the node's library, in a block and between brackets.
func TestTheJudgeReadsAsTheNode(t *testing.T) {
	for _, plain := range []string{
		"yes", "Yes", "YES", "no", "on", "OFF", "y", "N", "true", "True", "FALSE", "null", "Null", "~", "yEs", "nothing", "office", "tRUE",
		"24", "+24", "-1", "0x18", "0X18", "030", "0o30", "08", "2_4", "0b11000", "-0b1", "24.0", "2.4e1", ".5", "1e30", "1_0.5", "18446744073709551615", "99999999999999999999",
		"1:20", "52:54:00:00:00:01", "10.0.0.0/24", "2026-01-02", "2026-01-02T03:04:05Z", "---", "-", "...", "-x", "1 2", "eno1", "::1", "=", "<<x", "0x", "_1", "1_", "1,5",
	} {
		texts := []string{"v: " + plain + "\n", "v: '" + plain + "'\n"}
		if !strings.Contains(plain, ",") {
			texts = append(texts, "v: ["+plain+"]\n")
		}
		for _, text := range texts {
			var onNode, judged any
			if err := nodeyaml.Unmarshal([]byte(text), &onNode); err != nil {
				continue // the node refuses it
			}
			root := networkTree(text)
			if root == nil {
				t.Errorf("%q: the judge cannot read it", text)
				continue
			}
			asRead(root)
			var tree map[string]any
			if err := root.Decode(&tree); err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			b, err := json.Marshal(tree)
			if err == nil {
				err = json.Unmarshal(b, &judged)
			}
			if err != nil || !reflect.DeepEqual(judged, onNode) {
				t.Errorf("%q is %v to the judge, %v on the node (%v)", text, judged, onNode, err)
			}
		}
	}
}

// TestOldWordsInADesiredState: the words of YAML 1.1 for a truth value, and numbers in other forms, are judged as the node takes them.
func TestOldWordsInADesiredState(t *testing.T) {
	const head = "interfaces:\n- name: eno1\n  type: ethernet\n  state: up\n"
	for _, yes := range []string{"yes", "on", "True", "y"} {
		if err := NetworkConfig(head + "  ipv4: {enabled: " + yes + ", dhcp: " + yes + "}\n"); err != nil {
			t.Errorf("%s: %v", yes, err)
		}
	}
	if err := NetworkConfig(head + "  ipv4: {enabled: no, dhcp: no, address: [{ip: 10.0.0.5, prefix-length: 24}]}\n  ipv6: {enabled: true, dhcp: off}\n"); err == nil || !strings.Contains(err.Error(), "no default route") {
		t.Errorf("nothing is on: %v", err)
	}
	for _, length := range []string{"24", "0x18", "030", "2_4", "0b11000", "+24", "24.0"} {
		text := head + "  ipv4: {enabled: on, dhcp: no, address: [{ip: 10.0.0.5, prefix-length: " + length + "}]}\nroutes: {config: [{destination: 10.0.0.0/24, route-type: blackhole}]}\n"
		if err := NetworkConfig(text); err == nil || !strings.Contains(err.Error(), "drops traffic of the node itself: the route in its line 6") {
			t.Errorf("%s: %v", length, err)
		}
	}
	if c := New(); c.Set("spec.networkConfig", head+"  ipv4: {enabled: true, dhcp: no, address: [{ip: 10.0.0.5, prefix-length: 24}]}\n  ipv6: {enabled: off}\n") != nil || !c.nameless() {
		t.Error("a name server may come from somewhere")
	}
}

// TestWhatIsOffAsksForNothing: where a port or a family is off, nmstate ignores what else stands there, so that it is no way to the site.
func TestWhatIsOffAsksForNothing(t *testing.T) {
	for ports, good := range map[string]bool{
		"{name: a, ipv4: {enabled: false, dhcp: true}}":                                                          false,
		"{name: a, ipv6: {enabled: false, dhcp: true, autoconf: true}}":                                          false,
		"{name: a, state: absent, ipv4: {enabled: true, dhcp: true}}":                                            false,
		"{name: a, ipv4: {enabled: true, autoconf: true}}":                                                       false, // IPv6 alone has it
		"{name: a, ipv4: {enabled: true, dhcp: true}}":                                                           true,
		"{name: a, ipv4: {enabled: false, dhcp: true}, ipv6: {enabled: true, autoconf: true}}":                   true,
		"{name: a, ipv4: {enabled: false, dhcp: true}}, {name: b, state: up, ipv4: {enabled: true, dhcp: true}}": true,
	} {
		if err := NetworkConfig("interfaces: [" + ports + "]"); (err == nil) != good || err != nil && !strings.Contains(err.Error(), "no default route") {
			t.Errorf("%s: %v", ports, err)
		}
	}
}

// TestImportWritesTruthValuesOut: an import has true and false, whatever the document called them; other values stay as they stand.
func TestImportWritesTruthValuesOut(t *testing.T) {
	c, _, err := Import([]byte("interfaces:\n- {name: eno1, type: ethernet, state: up, ipv4: {enabled: yes, dhcp: On}, description: 'no', mtu: 0x5dc}\n"), "state.yaml", ImportChoice{})
	if err != nil {
		t.Fatal(err)
	}
	text := string(c.Spec.NetworkConfig)
	for _, want := range []string{"enabled: true", "dhcp: true", "description: 'no'", "mtu: 0x5dc"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
