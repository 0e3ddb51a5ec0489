// Package talk is what the bench and a guest say to each other over a virtio port: JSON, a line each.
package talk

// Port is the name of the port.
const Port = "touchdown.bench"

// Order is a program to run in the guest.
type Order struct {
	ID    int
	Argv  []string
	Stdin []byte
}

// Answer is what came of the order of that ID; or, with Boot, word that a boot of the guest takes orders.
type Answer struct {
	ID        int
	Out       []byte
	Complaint []byte // its standard error
	Code      int    // -1: it did not start, or a signal ended it
	Boot      string // the kernel's id of the boot
}
