package dns

import (
	"testing"

	"github.com/miekg/dns"
)

// FuzzAnswer reads answers of a name server.
func FuzzAnswer(f *testing.F) {
	q := new(dns.Msg).SetQuestion("api.example.com.", dns.TypeA)
	rr, err := dns.NewRR("api.example.com. 60 IN A 192.0.2.1")
	if err != nil {
		f.Fatal(err)
	}
	q.Answer = append(q.Answer, rr)
	b, err := q.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		var m dns.Msg
		if m.Unpack(data) != nil {
			return
		}
		for _, a := range addresses(&m) {
			if !a.IsValid() {
				t.Errorf("%x gives an address that is none", data)
			}
		}
	})
}

// FuzzFiles reads dnsmasq's settings and resolv.conf.
func FuzzFiles(f *testing.F) {
	f.Add("address=/api.sno.example.com/192.168.127.10\naddress=/api.a/api.b/fd00::1\n")
	f.Add("nameserver 192.0.2.1\nnameserver\n")
	f.Fuzz(func(t *testing.T, conf string) {
		var z Zone
		z.read(conf)
		for _, a := range z.Addresses {
			if !a.IsValid() {
				t.Errorf("%q gives an address that is none", conf)
			}
		}
		servers(conf)
	})
}
