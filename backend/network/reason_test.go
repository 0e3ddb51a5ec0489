package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/netconfig"
)

const marker = "hunter2Secret"

// whole is a document with every group that a site may write.
const whole = `description: text
interfaces:
- name: enp1s0
  type: ethernet
  state: up
  mtu: 1500
  mac-address: "00:53:00:12:34:56"
  profile-name: site
  ethernet: {auto-negotiation: true, speed: 1000, duplex: full}
  lldp: {enabled: true}
  ethtool: {feature: {rx-gro: true}}
  802.1x: {identity: me, eap-methods: [tls], password: sesame-open, private-key-password: sesame-shut, private-key: /etc/pki/a.key, client-cert: /etc/pki/a.crt, ca-cert: /etc/pki/ca.crt, phase2-auth: pap}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}
- name: bond0
  type: bond
  state: up
  link-aggregation: {mode: active-backup, options: {miimon: 100}, port: [enp2s0]}
- name: bond0.7
  type: vlan
  state: up
  vlan: {base-iface: bond0, id: 7, protocol: 802.1q}
routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: enp1s0, next-hop-address: 198.51.100.1, metric: 10}]}
route-rules: {config: [{ip-from: 198.51.100.0/24, route-table: 254, priority: 10, family: ipv4}]}
dns-resolver: {config: {server: [198.51.100.53], search: [example.com], options: [rotate]}}
`

// eachPlace returns the document once for each scalar, key and list in it, with something else in its place.
func eachPlace(t *testing.T, root any, instead any) map[string][]byte {
	all := map[string][]byte{}
	keep := func(place string) {
		text, err := yaml.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		all[place] = text
	}
	var walk func(place string, part any, put func(any))
	walk = func(place string, part any, put func(any)) {
		put(instead)
		keep(place)
		put(part)
		switch v := part.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(place+"."+key, v[key], func(x any) { v[key] = x })
			}
			v[marker] = 1
			keep(place + ", a key")
			delete(v, marker)
		case []any:
			for i, item := range v {
				walk(fmt.Sprintf("%s[%d]", place, i), item, func(x any) { v[i] = x })
			}
		}
	}
	m := root.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		walk(key, m[key], func(x any) { m[key] = x })
	}
	return all
}

// TestNoErrorTellsAValue puts a marker at every place of a document, as a text, a number, a list and a key: what is said about it, by
// this package and by nmstate, does not hold it. Names of interfaces are told, since they say where something is wrong.
func TestNoErrorTellsAValue(t *testing.T) {
	refused := 0
	for _, instead := range []any{marker, `a"b ` + marker + ` 'c`, "`" + marker, 4711081512345, -4711081512345, []any{marker}, map[string]any{marker: marker}} {
		var root any
		if err := yaml.Unmarshal([]byte(whole), &root); err != nil {
			t.Fatal(err)
		}
		for place, text := range eachPlace(t, root, instead) {
			for _, said := range saidOf(t, text) {
				refused++
				if named := strings.HasSuffix(place, "name") || strings.HasSuffix(place, "-iface") || strings.HasSuffix(place, "-interface") || strings.Contains(place, ".port"); named && oneName(instead) {
					continue
				}
				if strings.Contains(said, marker) || strings.Contains(said, "4711081512345") || strings.Contains(said, "sesame") {
					t.Errorf("%v at %s: %s", instead, place, said)
				}
			}
		}
	}
	if refused < 200 {
		t.Errorf("only %d complaints", refused)
	}
}

// oneName tells whether what was put into a document is the name of one interface.
func oneName(instead any) bool {
	if list, ok := instead.([]any); ok {
		instead = list[0]
	}
	name, ok := instead.(string)
	return ok && linkName(name) == nil
}

// saidOf is all that this package and nmstate say about a document.
func saidOf(t *testing.T, text []byte) (said []string) {
	tell := func(err error) {
		if err != nil {
			said = append(said, err.Error(), fmt.Sprintf("%+v", err))
		}
	}
	now := factory(t)
	facts := Facts{Now: now, Before: now, Ports: []Port{{Name: "enp1s0"}, {Name: "enp2s0"}}, Reserved: []Reserved{{Name: "the pods'", Prefix: netip.MustParsePrefix("10.128.0.0/14")}}}
	f := &faults{facts: facts, s: Settings{Raw: text, Own: host.DefaultOwn}}
	f.raw(t.Context(), &Network{host: hosttest.New(t).Machine, library: nmstateLibrary{}})
	for _, fault := range f.all {
		said = append(said, fault.Text.String())
	}
	_, _, err := readDocument(text, facts.Now, facts.Now)
	tell(err)
	_, err = nmstateLibrary{}.generate(t.Context(), text) // without our own judgement before it
	tell(err)
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	_, err = nmstateLibrary{}.compare(t.Context(), asJSON, []byte(`{"interfaces": []}`))
	tell(err)
	_, err = parseState(asJSON)
	tell(err)
	return said
}

// TestReason holds what is left of nmstate's words.
func TestReason(t *testing.T) {
	desired := []byte(`{"interfaces":[{"name":"ens3","type":"bond","profile-name":"` + marker + `","802.1x":{"password":"ens3 or 198.51.100.1"},"ipv4":{"address":[{"ip":"198.51.100.1"}]}}]}`)
	for said, want := range map[string]string{
		"Invalid YAML string: interfaces: invalid type: integer `4711`, expected a string at line 1 column 40": "interfaces: invalid type: integer …, expected a string",
		"missing field `name` at line 1 column 4":                                                              "missing field name",
		"unknown field `x 'y` z', expected one of `a`, `b`":                                                    "unknown field …",
		"Verification failure: ens3.interface.mtu desire '1500', current '9000'":                               "Verification failure: ens3.interface.mtu desire …",
		"unknown variant `" + marker + "` missing field `" + marker + "`":                                      "unknown variant …",
		"profile " + marker + " of ens3 has 198.51.100.1":                                                      "profile … of ens3 has 198.51.100.1",
		"it is ens3 or 198.51.100.1":                                                                           "it is …",
		"cut off at \"" + marker:                                                                               "cut off at …",
	} {
		if got := reason(said, desired); got != want {
			t.Errorf("%q is told as %q, want %q", said, got, want)
		}
	}
}

// FuzzReason holds that no quotation and no secret of a desired state passes.
func FuzzReason(f *testing.F) {
	f.Add("invalid type: string \"%s\", expected a map", "sesame")
	f.Add("cannot use %s here", "a\"b")
	f.Add("`%s` and '%s", "x")
	f.Fuzz(func(t *testing.T, said, password string) {
		secret := marker + password
		desired, err := json.Marshal(map[string]any{"interfaces": []any{map[string]any{"802.1x": map[string]any{"password": secret}}}})
		if err != nil || !json.Valid(desired) {
			t.Skip("the password cannot be written as JSON")
		}
		if got := reason(strings.ReplaceAll(said, "%s", secret), desired); strings.Contains(got, marker) && netconfig.OneLine(secret) && !strings.Contains(said, marker) {
			t.Errorf("%q with %q is told as %q", said, secret, got)
		}
		if got := reason(said, nil); strings.Count(got, "`")+strings.Count(got, "'")+strings.Count(got, `"`) > 0 {
			t.Errorf("%q keeps a quotation: %q", said, got)
		}
	})
}

// TestErrorsOfYAML holds that the library's words are not taken for a line number.
func TestErrorsOfYAML(t *testing.T) {
	for text, want := range map[string]string{
		"a: [\n":                      "line 1 is not valid YAML",
		"a: !!int line 4711081512345": "the document is not valid YAML",
		"- 4711081512345":             "the document is not valid YAML",
	} {
		if _, err := netconfig.Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if err := unfit(errors.New("4711081512345")); strings.Contains(err.Error(), "4711") {
		t.Error(err)
	}
}
