package operators

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// disable does what the real daemon does to each enabled unit with contents before it writes it: those may name another WantedBy=
// (pkg/daemon/file_writers.go, writeUnit, since OCPBUGS-33694). Here all are written by then.
func (d daemon) disable(ctx context.Context, next machine) error {
	for _, u := range next.Systemd.Units {
		if u.Contents == nil || *u.Contents == "" {
			continue
		}
		if out, err := exec.CommandContext(ctx, "systemctl", "is-enabled", u.Name).Output(); err != nil || strings.TrimSpace(string(out)) != "enabled" {
			continue
		}
		if err := systemctl(ctx, "disable", u.Name); err != nil {
			return err
		}
	}
	return nil
}

// units lets systemd read what was written, and switches units on and off, all of them each time (pkg/daemon/update.go, writeUnits).
func (d daemon) units(ctx context.Context, old, next machine) error {
	if err := systemctl(ctx, "daemon-reload"); err != nil {
		return err
	}
	was, is := old.enabled(), next.enabled()
	for _, verb := range []string{"enable", "disable"} {
		argv := []string{verb}
		for name, enabled := range is {
			if enabled == (verb == "enable") {
				argv = append(argv, name)
			}
		}
		if len(argv) > 1 {
			if err := systemctl(ctx, argv...); err != nil {
				return err
			}
		}
	}
	for name, enabled := range was {
		if _, stays := is[name]; enabled && !stays { // its configuration is gone, and with it the unit's file: only the links are left
			if err := d.unlink(name); err != nil {
				return err
			}
		}
	}
	return systemctl(ctx, "daemon-reload")
}

func (d daemon) unlink(unit string) error {
	for _, pattern := range []string{"*.wants", "*.requires"} {
		links, err := filepath.Glob(filepath.Join(d.root, "etc/systemd/system", pattern, unit))
		if err != nil {
			return fmt.Errorf("looking for the links of %s: %w", unit, err)
		}
		for _, link := range links {
			if err := os.Remove(link); err != nil {
				return fmt.Errorf("disabling %s: %w", unit, err)
			}
		}
	}
	return nil
}

// policy is what a change of a path needs instead of a reboot.
type policy struct {
	path string
	argv [][]string // of systemctl
}

// services does what the policies of the changed files say, each once.
func (d daemon) services(ctx context.Context, changed []string, policies []policy) error {
	var done []string
	for _, p := range policies {
		if !slices.ContainsFunc(changed, func(c string) bool { return c == p.path || strings.HasPrefix(c, strings.TrimSuffix(p.path, "/")+"/") }) {
			continue
		}
		for _, argv := range p.argv {
			if key := strings.Join(argv, " "); !slices.Contains(done, key) {
				done = append(done, key)
				if err := systemctl(ctx, argv...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func systemctl(ctx context.Context, argv ...string) error {
	if out, err := exec.CommandContext(ctx, "systemctl", argv...).CombinedOutput(); err != nil {
		return fmt.Errorf("systemctl %s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
