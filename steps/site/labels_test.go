package site

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestLabelsAreWhatTheAPITakes: a form, the document and the API agree on what a label is.
func TestLabelsAreWhatTheAPITakes(t *testing.T) {
	parts := []string{"", "a", "A.b_c-d", "-a", "a-", "a b", "a,b", "ä", "example.com/a", "example.com/", "/a", "EXAMPLE.com/a", strings.Repeat("a", 63), strings.Repeat("a", 64)}
	for _, name := range parts {
		for _, value := range parts {
			want := len(metav1.ValidateLabels(map[string]string{name: value}, field.NewPath("labels"))) == 0
			if f := label(name, value); (f == nil) != want {
				t.Errorf("%q=%q: %v, the API takes it: %v", name, value, f, want)
			}
			text := strings.NewReplacer("NAME", name, "VALUE", value).Replace(head + `spec: {nodeLabels: {"NAME": "VALUE"}}`)
			c, err := Parse([]byte(text), "site.yaml", nil)
			if err == nil {
				if !maps.Equal(c.Spec.NodeLabels, map[string]string{name: value}) {
					t.Errorf("%q=%q: the document has %v", name, value, c.Spec.NodeLabels)
				}
				errs, _ := c.Validate(time.Time{})
				err = errs.Below(nodeLabelsPath).Err()
			}
			if (err == nil) != want {
				t.Errorf("%q=%q: the document's verdict is %v", name, value, err)
			}
		}
	}
}

// TestLabelsThatLookAlike: what YAML would read as another type is written so that it stays a text.
func TestLabelsThatLookAlike(t *testing.T) {
	c := New()
	want := map[string]string{"a": "7", "b": "true", "c": "", "d": "null", "e": "1e3", "on": "on", "f": "2026-01-01"}
	if err := c.Set(nodeLabelsPath, formatLabels(want)); err != nil {
		t.Fatal(err)
	}
	text, err := c.Marshal(true)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(text, "site.yaml", nil)
	if err != nil || !maps.Equal(again.Spec.NodeLabels, want) {
		t.Errorf("%v, %v, written as\n%s", again, err, text)
	}
	for _, same := range []string{"", " \n"} {
		if err := c.Set(nodeLabelsPath, same); err != nil || c.Spec.NodeLabels != nil {
			t.Errorf("%q leaves %v (%v)", same, c.Spec.NodeLabels, err)
		}
	}
}

// TestImportTakesLabels: both kinds of a hub name the labels of a node; what others set is left out with the reason.
func TestImportTakesLabels(t *testing.T) {
	const labels = "nodeLabels: {zone: berlin, rack: 7, gpu: true, node-role.kubernetes.io/edge: , node-role.kubernetes.io/master: '', kubernetes.io/os: linux}"
	for _, doc := range []string{
		"apiVersion: ran.openshift.io/v1\nkind: SiteConfig\nspec: {clusters: [{nodes: [{" + labels + "}]}]}\n",
		"apiVersion: siteconfig.open-cluster-management.io/v1alpha1\nkind: ClusterInstance\nspec: {nodes: [{" + labels + "}]}\n",
	} {
		c, notes, err := Import([]byte(doc), "doc", ImportChoice{})
		if err != nil {
			t.Fatal(err)
		}
		if want := (map[string]string{"zone": "berlin", "rack": "7", "gpu": "true", "node-role.kubernetes.io/edge": ""}); !maps.Equal(c.Spec.NodeLabels, want) {
			t.Errorf("labels: %v", c.Spec.NodeLabels)
		}
		for _, want := range []string{
			".nodeLabels is now spec.nodeLabels",
			`nodeLabels.(a key that is not shown) is left out: "node-role.kubernetes.io/master" is not for a site to set: OpenShift sets it`,
			`nodeLabels.(a key that is not shown) is left out: "kubernetes.io/os" is not for a site to set: the kubelet or a cloud provider sets it`,
		} {
			if !slices.ContainsFunc(notes, func(note string) bool { return strings.HasSuffix(note, want) }) {
				t.Errorf("no note %q in\n%s", want, strings.Join(notes, "\n"))
			}
		}
		everyLeafIsTold(t, "labels", []byte(doc), notes)
		for wrong, why := range map[string]string{"[zone]": "keys and values", "{zone: two words}": "no label can have", "{zone: [a]}": "one value", "{a b: c}": "not the name of a label"} {
			_, _, err := Import([]byte(strings.Replace(doc, labels, "nodeLabels: "+wrong, 1)), "doc", ImportChoice{})
			if err == nil || !strings.Contains(err.Error(), "nodeLabels") || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", wrong, err)
			}
		}
	}
}
