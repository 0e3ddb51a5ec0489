package network

// up tells whether a document wants an interface to carry anything: nmstate takes it for up where nothing is said.
func (i iface) up() bool { return i.State == "" || i.State == "up" }

// addressed tells whether a document gives an interface addresses of a family that is on.
func (f *family) addressed() bool { return f != nil && f.Enabled && len(f.Address) > 0 }
