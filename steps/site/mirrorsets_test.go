package site

import (
	"strings"
	"testing"
	"time"
)

const (
	digestSet = "apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata: {name: idms-release-0}\nspec:\n  imageDigestMirrors:\n" +
		"  - source: quay.io/openshift-release-dev/ocp-release\n    mirrors: [registry.site.example:8443/openshift/release-images]\nstatus: {}\n"
	contentPolicy = "apiVersion: operator.openshift.io/v1alpha1\nkind: ImageContentSourcePolicy\nmetadata: {name: operator-0}\nspec:\n  repositoryDigestMirrors:\n" +
		"  - source: registry.redhat.io\n    mirrors: [registry.site.example:8443]\n"
	tagSet = "apiVersion: config.openshift.io/v1\nkind: ImageTagMirrorSet\nmetadata: {name: itms-generic-0}\nspec:\n  imageTagMirrors:\n" +
		"  - {source: quay.io/tools, mirrors: [registry.site.example:8443/tools], mirrorSourcePolicy: NeverContactSource}\n"
)

// TestMirrorsOfObjects: a file as oc-mirror writes it does for a list of mirrors, with all of its objects.
func TestMirrorsOfObjects(t *testing.T) {
	c := New()
	if err := c.Set("spec.imageDigestMirrors", "---\n"+digestSet+"---\n"+contentPolicy); err != nil {
		t.Fatal(err)
	}
	all := c.Spec.ImageDigestMirrors
	if len(all) != 2 || all[0].Source != "quay.io/openshift-release-dev/ocp-release" || all[0].Mirrors[0] != "registry.site.example:8443/openshift/release-images" || all[1].Source != "registry.redhat.io" {
		t.Errorf("%+v", all)
	}
	if err := c.Set("spec.imageTagMirrors", tagSet); err != nil || len(c.Spec.ImageTagMirrors) != 1 || c.Spec.ImageTagMirrors[0].MirrorSourcePolicy != "NeverContactSource" {
		t.Errorf("%v: %+v", err, c.Spec.ImageTagMirrors)
	}
	if text, ok := c.Get("spec.imageDigestMirrors"); !ok || strings.Contains(text, "kind") {
		t.Errorf("%t: %s", ok, text)
	}
}

// TestASourceInTwoObjects: oc-mirror writes an object for each kind of content, and a source may be in several. The cluster merges them where
// their policy is the same; where it is not, a person decides.
func TestASourceInTwoObjects(t *testing.T) {
	again := strings.ReplaceAll(digestSet, "8443/openshift/release-images]", "8443/openshift/release-images, other.site.example/images]")
	c := New()
	if err := c.Set("spec.imageDigestMirrors", digestSet+"---\n"+again); err != nil {
		t.Fatal(err)
	}
	if all := c.Spec.ImageDigestMirrors; len(all) != 1 || strings.Join(all[0].Mirrors, " ") != "registry.site.example:8443/openshift/release-images other.site.example/images" {
		t.Errorf("%+v", all)
	}
	never := strings.ReplaceAll(digestSet, "release-images]\n", "release-images]\n    mirrorSourcePolicy: NeverContactSource\n")
	if err := c.Set("spec.imageDigestMirrors", digestSet+"---\n"+never); err != nil || len(c.Spec.ImageDigestMirrors) != 2 {
		t.Errorf("%v: %+v", err, c.Spec.ImageDigestMirrors)
	}
	if errs, _ := c.Validate(time.Time{}); errs.At("spec.imageDigestMirrors[1].source") == nil {
		t.Errorf("two policies for a source: %v", errs)
	}
}

// TestObjectsThatAreNoMirrors: what does not belong into the list is told with its kind and line, and the list stays.
func TestObjectsThatAreNoMirrors(t *testing.T) {
	for text, want := range map[string]string{
		tagSet:                                               `is an object of the kind "ImageTagMirrorSet"; take it as spec.imageTagMirrors`,
		digestSet + "---\n" + tagSet:                         `is an object of the kind "ImageTagMirrorSet"; take it as spec.imageTagMirrors`,
		digestSet + "---\nkind: CatalogSource\n":             `has an object of the kind "CatalogSource", in its line 10; keep the objects with mirrors in the file alone`,
		digestSet + "---\nsource: quay.io/a\n":               "has an object without a kind, in its line 10",
		"kind: ImageDigestMirrorSet\nspec: {}\n":             `has an object of the kind "ImageDigestMirrorSet" without mirrors, in its line 1`,
		strings.ReplaceAll(digestSet, "- source", "- sorce"): "has in its line 6 a mistake",
		"kind: [ImageDigestMirrorSet]\n":                     "has an object of the kind",
		"- kind: ImageDigestMirrorSet\n":                     "has in its line 1 a mistake",
	} {
		c := New()
		if err := c.Set("spec.imageDigestMirrors", "- {source: quay.io/a, mirrors: [registry.site.example/a]}"); err != nil {
			t.Fatal(err)
		}
		if err := c.Set("spec.imageDigestMirrors", text); err == nil || !strings.Contains(err.Error(), want) || len(c.Spec.ImageDigestMirrors) != 1 {
			t.Errorf("%v, want %s\n%s", err, want, text)
		}
	}
}
