package tui

import (
	"slices"
	"testing"
)

// TestPlainEmpties: an answer can be taken away, a secret too, and a pull secret may have several lines.
func TestPlainEmpties(t *testing.T) {
	f, p := holding(t)
	p.printed(t, "Try: Connect the site's time server")
	p.printed(t, "empty removes the answer.")
	p.after(t, "Cluster name [sno-042]:", "store1")
	p.after(t, "Base domain []:", "example.com")
	p.after(t, "Pull secret []:", "{\n  \"auths\": {\n  }\n}")
	p.after(t, "API certificate []:", "back")
	p.after(t, "Pull secret [set, not shown]:", "empty")
	p.printed(t, "API certificate []:")
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.Index(f.sets, "spec.pullSecret={\n\"auths\": {\n}\n}")
	if at < 0 || !slices.Contains(f.sets[at:], "spec.pullSecret=") {
		t.Errorf("set %q", f.sets)
	}
}
