package site

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// TestFields keeps what the validators of single fields say, good values too.
func TestFields(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	cases := append(networkFields(), []struct {
		path   string
		values []string
	}{
		{"metadata.name", []string{"", "store-0042", "store.0042", "Store 42", "-a", long(64)}},
		{"spec.clusterName", []string{
			"", "store0042", "0042", " padded ", "a.b", "Store0042", "store_42", "store 42", "-a", "a-", "straße", "a\u200bb",
			long(54), long(55), long(64), "*", "a\nb", "a\x00b", "http://a", long(254),
		}},
		{"spec.baseDomain", []string{
			"", "example.com", "lan", "site.local", "xn--strae-oqa.de", "Example.com", "example.com.", ".example.com", "a..b", "*.example.com",
			"https://example.com/x", "exa mple.com", "exa_mple.com", "10.0.0.1", "example.123", "fd00::1", "bücher.de", "site.localhost",
			"site.invalid", "a.cluster.local", "cluster.local", long(63) + ".com", long(64) + ".com", "-a.com", "a-.com",
			strings.Repeat(long(49)+".", 4) + "x", strings.Repeat(long(49)+".", 4) + "xy",
		}},
		{"spec.pullSecret", []string{
			"",
			`{"auths":{"quay.io":{"auth":"` + b64("user:"+planted) + `"}}}`,
			`{"auths":{"quay.io":{"auth":"` + strings.TrimRight(b64("user:"+planted+"x"), "=") + `","email":"a@b"}}}`,
			`{"auths":{"reg:5000/x":{"username":"u","password":"` + planted + `"}},"credHelpers":{}}`,
			`{"auths":{}}`, `{}`, `[]`, `null`, `"` + planted + `"`, planted, `{"auths":[]}`, `{"auths":null}`, `{"auths":{"quay.io":null}}`,
			`{"auths":{"quay.io":"` + planted + `"}}`, `{"auths":{"quay.io":{}}}`, `{"auths":{"quay.io":{"username":"` + planted + `"}}}`,
			`{"auths":{"quay.io":{"auth":"` + planted + `!"}}}`, `{"auths":{"quay.io":{"auth":"` + b64(planted) + `"}}}`,
			`{"auths":{"quay.io":{"auth":"` + b64(":"+planted) + `"}}}`, `{"auths":{"quay.io":{"auth":"` + b64(planted+":") + `"}}}`,
			`{"auths":{"quay.io":{"auth":7}}}`, `{"auths":{"` + planted + `":{}}}`, `{"auths":{"a.b":{"auth":"` + b64("u:p") + `"},"c.d":{}}}`,
			"{\"auths\":{\n  \"quay.io\": {\"auth\": \"" + planted + "\"},\n  }\n}", `{"auths":{"quay.io":{"auth":"` + planted,
			`{"auths":{"quay.io":{"auth":"` + b64("u:p") + `"}}} {}`, b64(`{"auths":{"q":{"auth":"` + planted + `"}}}`),
			`{"apiVersion":"v1","kind":"Secret","data":{".dockerconfigjson":"` + planted + `"}}`, `{".dockerconfigjson":"` + planted + `"}`,
			"<set>", "{\"auths\":\x00}", strings.Repeat("x", maxPullSecret+1),
		}},
		{"spec.credentials.kubeadmin", []string{"", "replace", "keep", " keep ", "Keep", "remove"}},
		{"spec.credentials.kubeconfigDays", []string{"", "1", "365", "3650", "0", "3651", "-1", "365d", "99999999999"}},
		{"spec.credentials.clusterSecret", []string{"true", "yes"}},
		{"spec.nodeLabels", []string{
			"", "zone=berlin", "zone=berlin, example.com/rack=7\nempty=", "topology.kubernetes.io/zone=row-3", "node-role.kubernetes.io/infra=", "zone", "=berlin", "zone=a zone=b",
			"Example.com/rack=7", "a/b/c=d", "-a=b", "a_=b", long(63) + "=" + long(63), long(64) + "=a", "a=" + long(64), "a=-", "a=b=c", "straße=a",
			"kubernetes.io/hostname=a", "kubernetes.io/os=windows", "beta.kubernetes.io/arch=amd64", "failure-domain.beta.kubernetes.io/zone=a", "node.kubernetes.io/instance-type=a",
			"node-role.kubernetes.io/master=", "node-role.kubernetes.io/worker=", "node.openshift.io/os_id=rhel", "network.operator.openshift.io/dpu=", strings.Repeat("a=b,", maxList/4+1),
			"-----BEGIN PRIVATE KEY-----",
		}},
		{"spec.policy.allowReboot", []string{"", "true", "false", " true ", "yes", "True", "1"}},
		{"spec.policy.stabilityWindow", []string{"", "2m", "90s", "1s", "30m", "0s", "30m1s", "-2m", "2", "two", "999999999999h"}},
		{"spec.policy.answers.keep-network", []string{"", "keep", "two words", "a\nb", long(256), long(257)}},
		{"spec.policy.answers.Keep_It", []string{"x"}},
		{"spec.pullSecretFile", []string{"x"}},
		{"spec.basedomain", []string{"x"}},
		{"apiVersion", []string{"x"}},
		{"", []string{"x"}},
	}...)
	var b strings.Builder
	for _, c := range cases {
		for _, value := range c.values {
			label := quoted(value)
			label = strings.ReplaceAll(label, "PLANTED", "") // the golden file may hold no secret, and these are inputs
			verdict := "fine"
			if err := checked(c.path, value); err != nil {
				verdict = err.Error()
			}
			b.WriteString("== " + c.path + " " + label + "\n" + verdict + "\n")
		}
	}
	golden(t, "testdata/fields.golden", b.String())
}

func TestCheckOfRequiredFields(t *testing.T) {
	for _, path := range []string{"spec.clusterName", "spec.baseDomain"} {
		if err := checked(path, ""); err == nil || !strings.Contains(err.Error(), "is missing") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// checked is what Check says of a value, with the path before it.
func checked(path, value string) error {
	err := Check(path)(value)
	if f, ok := errors.AsType[*Error](err); ok {
		f.Path = path
	}
	return err
}
