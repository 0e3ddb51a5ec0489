// Package engine runs a list of stages on one node: it owns the site config, the journal and the saved
// originals, and serves any number of consoles, in its own process or over a unix socket.
package engine
