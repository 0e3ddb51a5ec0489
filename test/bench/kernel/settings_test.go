package kernel

import "strings"

// config is a site config with this network: what form or document returns.
func config(network string) string {
	return `apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
metadata: {name: store-0051}
spec:
  clusterName: store0051
  baseDomain: retail.example.com
` + network + `
  additionalNTPSources: [198.51.100.123]
  policy:
    keepGoingOnWarnings: true
    rollbackOnFailure: false
`
}

// form is a static network with these entries of spec.network besides the address.
func form(entries string) string {
	return `  network: {` + entries + `, dnsServers: [198.51.100.53], ipv6: {method: disabled},
    ipv4: {method: static, address: 198.51.100.10, prefixLength: 24, gateway: 198.51.100.1}}`
}

// document is the same network as an nmstate document, with the address on a VLAN of a device.
func document(device string, below ...string) string {
	return documentAs(device+".120", device, below...)
}

// documentAs is document with another name of the VLAN.
func documentAs(name, device string, below ...string) string {
	return `  networkConfig: |
    interfaces:
    - {name: ` + name + `, type: vlan, state: up, vlan: {base-iface: ` + device + `, id: 120},
       ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}, ipv6: {enabled: false}}
    ` + strings.Join(below, "\n    ") + `
    routes:
      config: [{destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: ` + name + `}]
    dns-resolver:
      config: {server: [198.51.100.53]}`
}

// documents brings a VLAN over a bond and a VLAN of a port by nmstate documents, each in force after a boot too, and one that would
// change what is the cluster's.
func (f *trip) documents() {
	f.Helper()
	bond := "- {name: bond0, type: bond, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}, link-aggregation: {mode: active-backup, options: {miimon: 100}, port: [enp1s0, enp2s0]}}"
	f.keeps("a VLAN over a bond by a document", document("bond0", bond))
	f.inVLAN("bond0.120")
	f.shows("cat /proc/net/bonding/bond0", "Slave Interface: enp1s0", "Slave Interface: enp2s0")
	f.must(f.guest.Reboot(f.ctx))
	f.await("the address of the document after a boot", onBridge("198.51.100.10/24"))
	f.inVLAN("bond0.120")
	events, err := f.apply(document("bond0", bond, "- {name: br-ex, type: ovs-bridge, state: absent}"))
	if f.must(err); !strings.Contains(events, "br-ex") || strings.Contains(events, `"step":"network"`) {
		f.Errorf("a document without br-ex was not refused:\n%s", events)
	}
	f.inVLAN("bond0.120")
	f.keeps("a VLAN of a port by a document", documentAs("site120", "enp1s0"))
	f.inVLAN("site120")
	f.shows("! test -e /proc/net/bonding/bond0")
	f.renamed()
}

// renamed asks for the VLAN site120 under other names, by a document and by the form: the kernel has no second VLAN of a number on a port.
func (f *trip) renamed() {
	f.Helper()
	f.keeps("the VLAN under another name", document("enp1s0"))
	f.inVLAN("site120")
	f.keeps("the same VLAN by the form", form("interface: enp1s0, vlanID: 120, mtu: 9000"))
	f.inVLAN("site120")
	f.shows("! ip link show enp1s0.120 2>&1")
}
