package network

import "fmt"

// up tells whether a document wants an interface to carry anything: nmstate takes it for up where nothing is said.
func (i iface) up() bool { return i.State == "" || i.State == "up" }

// addressed tells whether a document gives an interface addresses of a family that is on.
func (f *family) addressed() bool { return f != nil && f.Enabled && len(f.Address) > 0 }

// stacked wants each interface to stand on others, down to ports: not on itself, at whatever distance, and a bond on something.
func (s *state) stacked() error {
	at := map[string]int{}
	for n, i := range s.Interfaces {
		at[i.Name] = n
		if i.up() && i.Bond != nil && len(i.Bond.Ports) == 0 {
			return fmt.Errorf("interfaces[%d] is a bond without ports", n)
		}
	}
	const begun, done = 1, 2
	seen := make([]int, len(s.Interfaces))
	var down func(n int) error
	down = func(n int) error {
		if seen[n] == begun {
			return fmt.Errorf("interfaces[%d] stands on itself", n)
		}
		if seen[n] == done {
			return nil
		}
		seen[n] = begun
		for _, name := range s.Interfaces[n].below() {
			if next, ok := at[name]; ok {
				if err := down(next); err != nil {
					return err
				}
			}
		}
		seen[n] = done
		return nil
	}
	for n := range s.Interfaces {
		if err := down(n); err != nil {
			return err
		}
	}
	return nil
}

// below are the interfaces that one stands on.
func (i iface) below() []string {
	var names []string
	if i.VLAN != nil {
		names = append(names, i.VLAN.Base)
	}
	if i.Bond != nil {
		names = append(names, i.Bond.Ports...)
	}
	return names
}
