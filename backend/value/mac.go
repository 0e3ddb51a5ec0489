package value

import "net"

// MAC writes the address of an Ethernet port as Linux does (aa:bb:cc:dd:ee:ff): people write it with dashes or without anything between the
// digits too, and switches by Cisco as aabb.ccdd.eeff. It is "" for what is not one.
func MAC(text string) string {
	const bytes = 6 // IEEE 802; net.ParseMAC takes longer ones too
	mac, err := net.ParseMAC(text)
	if err != nil || len(mac) != bytes {
		return ""
	}
	return mac.String()
}
