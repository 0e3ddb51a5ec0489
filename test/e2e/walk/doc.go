// Package walk lets a technician walk through the whole wizard, at each of the consoles that a node has.
package walk
