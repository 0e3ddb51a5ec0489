package site

import "touchdown/backend/value"

// nearest returns the known name that a mistyped one most likely means, or "".
func nearest(name string, known []string) string { return value.Nearest(name, known) }
