package network

// up tells whether a document wants an interface to carry anything: nmstate takes it for up where nothing is said.
func (i iface) up() bool { return i.State == "" || i.State == "up" }
