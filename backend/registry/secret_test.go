package registry_test

import (
	"slices"
	"strings"
	"testing"

	"touchdown/backend/problem"
	"touchdown/backend/registry"
)

func TestMerge(t *testing.T) {
	for name, test := range map[string]struct{ current, site, want string }{
		"adds":                   {`{"auths":{"a":{"auth":"x"}}}`, `{"auths":{"b":{"auth":"y"}}}`, `{"auths":{"a":{"auth":"x"},"b":{"auth":"y"}}}`},
		"replaces":               {`{"auths":{"a":{"auth":"x","email":"e"}}}`, `{"auths":{"a":{"auth":"y"}}}`, `{"auths":{"a":{"auth":"y"}}}`},
		"same: kept to the byte": {"{ \"auths\": {\"a\": {\"auth\":\"x\"}} }\n", `{"auths":{"a":{"auth":"x"}}}`, ""},
		"nothing before":         {``, `{"auths":{"a":{"auth":"x"}}}`, `{"auths":{"a":{"auth":"x"}}}`},
		"user and password":      {``, `{"auths":{"a":{"email":"e","password":"p","username":"u"}}}`, `{"auths":{"a":{"auth":"dTpw","email":"e","password":"p","username":"u"}}}`},
		"no padding":             {``, `{"auths":{"a":{"auth":"dTpwYXM"}}}`, `{"auths":{"a":{"auth":"dTpwYXM="}}}`},
		"the same, completed":    {`{"auths":{"a":{"auth":"dTpwYXM="}}}`, `{"auths":{"a":{"auth":"dTpwYXM"}}}`, ""},
		"the same, apart":        {`{"auths":{"a":{"password":"p","username":"u"}}}`, `{"auths":{"a":{"password":"p","username":"u"}}}`, `{"auths":{"a":{"auth":"dTpw","password":"p","username":"u"}}}`},
		"the same, incomplete":   {`{"auths":{"a":{"auth":"dTpwYXM"}}}`, `{"auths":{"a":{"auth":"dTpwYXM"}}}`, `{"auths":{"a":{"auth":"dTpwYXM="}}}`},
		"by another spelling":    {`{"auths":{"quay.io":{"auth":"x"}}}`, `{"auths":{"https://quay.io/v2/":{"auth":"y"}}}`, `{"auths":{"quay.io":{"auth":"y"}}}`},
		"by two spellings":       {`{"auths":{"https://quay.io":{"auth":"x"},"quay.io":{"auth":"y"}}}`, `{"auths":{"quay.io":{"auth":"z"}}}`, `{"auths":{"https://quay.io":{"auth":"z"},"quay.io":{"auth":"z"}}}`},
		"with a port":            {`{"auths":{"quay.io":{"auth":"x"}}}`, `{"auths":{"quay.io:443":{"auth":"y"}}}`, `{"auths":{"quay.io":{"auth":"x"},"quay.io:443":{"auth":"y"}}}`},
		"no auths before":        {`{"credHelpers":{"c":"d"}}`, `{"auths":{"a":{"auth":"x"}}}`, `{"auths":{"a":{"auth":"x"}},"credHelpers":{"c":"d"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			merged, changed, err := registry.Merge([]byte(test.current), []byte(test.site))
			if err != nil || changed != (test.want != "") {
				t.Fatal(changed, err)
			}
			if want := test.want + map[bool]string{true: test.current}[!changed]; string(merged) != want {
				t.Errorf("%s", merged)
			}
		})
	}
	for _, bad := range []string{"hunter2", `[]`, `null`, `{"auths":"hunter2"}`} {
		_, _, err := registry.Merge([]byte(`{}`), []byte(bad))
		if problem.From(err).Code != "PULL-BAD" || strings.Contains(err.Error(), "hunter2") {
			t.Error(bad, err)
		}
	}
	hosts, err := registry.Hosts([]byte(`{"auths":{"b":{},"a":{}}}`))
	if err != nil || !slices.Equal(hosts, []string{"a", "b"}) {
		t.Error(hosts, err)
	}
}
