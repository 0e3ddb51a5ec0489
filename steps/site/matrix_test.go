package site_test

import (
	"strings"
	"testing"
	"time"

	"touchdown/steps/site"
	"touchdown/test/matrix"
)

// TestEverySiteCanBeWritten: what a site lacks is not a mistake in its document, and neither is an address that only the network
// itself can tell to be wrong. A registry by a name that nobody there looks up is told.
func TestEverySiteCanBeWritten(t *testing.T) {
	for _, s := range matrix.All() {
		cfg, err := site.Parse([]byte(s.Config()), "site.yaml", nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", s, err, s.Config())
		}
		told := 0
		if s.Static() && s.DNS == matrix.Absent && strings.Contains(s.Mirror(), ".retail.example.com") {
			told = 1
		}
		if errs, warnings := cfg.Validate(time.Now()); len(errs) > 0 || len(warnings) != told {
			t.Errorf("%s: %v %v\n%s", s, errs, warnings, s.Config())
		}
	}
}

// TestWrongAddressesAreRefused: what the document itself tells to be wrong is refused before the network is asked, at every site
// where addresses are typed.
func TestWrongAddressesAreRefused(t *testing.T) {
	const elsewhere4, elsewhere6 = "203.0.113.7", "2001:db8:99::7"
	for _, s := range matrix.All() {
		if !s.Static() {
			continue
		}
		for _, family := range s.Families() {
			name, elsewhere := [2]string{"ipv4", "ipv6"}[family], [2]string{elsewhere4, elsewhere6}[family]
			wrong := map[string]string{"spec.network." + name + ".gateway": elsewhere}
			if s.Gateway == matrix.Absent {
				wrong["spec.network.dnsServers"] = elsewhere // nobody leads there
			}
			for path, value := range wrong {
				cfg, err := site.Parse([]byte(s.Config()), "site.yaml", nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := cfg.Set(path, value); err != nil {
					t.Fatal(err)
				}
				if errs, _ := cfg.Validate(time.Now()); errs.At(path) == nil {
					t.Errorf("%s: %s is %s: %v", s, path, value, errs)
				}
			}
		}
	}
}
