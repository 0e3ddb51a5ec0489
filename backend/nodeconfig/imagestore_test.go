package nodeconfig_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
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

// What a regular expression would spoil is written again with its meaning kept.
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
	if !ok || p.Code != "CST-TML" || !strings.Contains(p.Summary.String(), "line 2") {
		t.Errorf("%v", err)
	}
}

// TestImageStoreIsMadeFromWhatTheClusterLays: the file of the last MachineConfig before ours is the base, else the node's own.
func TestImageStoreIsMadeFromWhatTheClusterLays(t *testing.T) {
	api, c := kubetest.New(t)
	lay := func(name, conf string) {
		api.Put(mcs+name, `{"metadata":{"labels":{"machineconfiguration.openshift.io/role":"master"}},"spec":{"config":{"storage":{"files":[
			{"path":"/etc/containers/storage.conf","contents":{"source":"`+dataURL(conf)+`"}}]}}}}`)
	}
	want := nodeconfig.Want{ImageStore: ourStore, Storage: "[storage]\ndriver = \"of the node\"\n"}
	written := func() string {
		t.Helper()
		changes, err := nodeconfig.Changes(t.Context(), c, want)
		if err != nil || len(changes) != 1 || !changes[0].Pending || changes[0].New.String() != ourStore {
			t.Fatalf("%+v, %v", changes, err)
		}
		if _, err := changes[0].Write(t.Context(), c, func(kube.Ref, []byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Config struct {
				Storage struct {
					Files []struct{ Contents struct{ Source string } }
				}
			}
		}
		if err := json.Unmarshal([]byte(api.Get(mcs+"99-master-touchdown-imagestore", "spec")), &doc); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(doc.Config.Storage.Files[0].Contents.Source, "base64,")
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !strings.Contains(string(data), ourStore) {
			t.Fatalf("%s, %v", data, err)
		}
		return string(data)
	}
	if got := written(); !strings.Contains(got, "of the node") {
		t.Errorf("no MachineConfig lays the file, and it was made from\n%s", got)
	}
	lay("00-master", "[storage]\ndriver = \"of the template\"\n")
	lay("99-master-generated-containerruntime", "[storage]\ndriver = \"of the operator\"\n")
	if got := written(); !strings.Contains(got, "of the operator") {
		t.Errorf("it was made from\n%s", got)
	}
	if changes, err := nodeconfig.Changes(t.Context(), c, want); err != nil || changes[0].Pending {
		t.Errorf("written, and still pending: %+v, %v", changes, err)
	}
	lay("99-zz", "")
	_, err := nodeconfig.Changes(t.Context(), c, want)
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "CST-HELD" {
		t.Errorf("one that wins over ours: %v", err)
	}
}
