package nodeconfig_test

import (
	"errors"
	"strings"
	"testing"

	"touchdown/backend/nodeconfig"
	"touchdown/backend/problem"
)

const ourStore = "/var/lib/shared/touchdown/current"

func TestAddStoreChangesOneKey(t *testing.T) {
	const ours = `additionalimagestores = ["` + ourStore + `"]` + "\n"
	for name, c := range map[string]struct{ in, want string }{
		"as the operator renders it": {
			"# storage\n[storage]\ndriver = \"overlay\"\n[storage.options]\n# stores\nadditionalimagestores = [\n]\n\n[storage.options.overlay]\nskip_mount_home = \"true\"\n",
			"# storage\n[storage]\ndriver = \"overlay\"\n[storage.options]\n# stores\n" + ours + "\n[storage.options.overlay]\nskip_mount_home = \"true\"\n",
		},
		"no key":        {"[storage]\ndriver = \"overlay\"\n[storage.options]\nsize = \"\"\n", "[storage]\ndriver = \"overlay\"\n[storage.options]\n" + ours + "size = \"\"\n"},
		"no table":      {"[storage]\ndriver = \"overlay\"", "[storage]\ndriver = \"overlay\"\n\n[storage.options]\n" + ours},
		"empty":         {"", "\n[storage.options]\n" + ours},
		"another store": {"[storage.options]\nadditionalimagestores = [ '/srv/a' ] # mine\n", "[storage.options]\nadditionalimagestores = [\"/srv/a\", \"" + ourStore + "\"]\n"},
		"there already": {"[storage.options]\nadditionalimagestores=['" + ourStore + "']", "[storage.options]\nadditionalimagestores=['" + ourStore + "']"},
	} {
		got, err := nodeconfig.AddStore(c.in, ourStore)
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n%q, want\n%q", name, err, got, c.want)
		}
	}
}

// What a regular expression would spoil is written anew with its meaning kept.
func TestAddStoreKeepsTheMeaningOfOddFiles(t *testing.T) {
	for name, in := range map[string]string{
		"dotted":         "storage.driver = \"overlay\"\nstorage.options.additionalimagestores = [\"/a]b\"]\n",
		"inline":         "storage = {driver = \"overlay\", options = {additionalimagestores = [\"/a]b\"]}}\n",
		"bracket inside": "[storage]\ndriver = \"overlay\"\n[storage.options]\nadditionalimagestores = [\"/a]b\"]\n",
	} {
		got, err := nodeconfig.AddStore(in, ourStore)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := nodeconfig.AddStore(got, ourStore)
		if err != nil || again != got || !strings.Contains(got, "/a]b") || !strings.Contains(got, "overlay") {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

func TestAddStoreNamesTheLineThatIsNoTOML(t *testing.T) {
	_, err := nodeconfig.AddStore("[storage]\ndriver = overlay\n", ourStore)
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || p.Code != "STO-CONF" || !strings.Contains(p.Summary, "line 2") {
		t.Errorf("%v", err)
	}
}
