package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"touchdown/test/bench"
	"touchdown/test/bench/made"
	"touchdown/test/wait"
)

// Factory returns the name of a prepared disk with the node as it leaves the factory: installed, baked and armed by
// touchdown itself, switched off in order. It is made again when the installed disk or the bake changes.
func Factory(ctx context.Context) (string, error) {
	installed, err := Installed(ctx)
	if err != nil {
		return "", err
	}
	bake, err := bakeKey()
	if err != nil {
		return "", err
	}
	key := strings.TrimPrefix(installed, "installed-") + "-" + bake
	return EnsureImage(ctx, "factory", key, Options{Image: installed}, func(ctx context.Context, m *Machine) error { return m.bake(ctx) })
}

// bakeKey fingerprints what decides over the result of a bake. The rest of the program changes every few minutes of a
// day's work, and is put on the node again by who lands it.
func bakeKey() (string, error) { return keyOf(made.Baked) }

func keyOf(p made.Parts, folders ...string) (string, error) {
	root, err := bench.Root()
	if err != nil {
		return "", err
	}
	return p.Key(root, folders...)
}

// Program puts the program under test on the node, on or off.
func (m *Machine) Program() error {
	root, err := bench.Root()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(root, ".cache", "bin", "touchdown"))
	if err != nil {
		return fmt.Errorf("%w: the program is not built (make build): %w", ErrUnable, err)
	}
	return m.WriteFile("/usr/local/bin/touchdown", program, 0o755)
}

// bake boots the installed node in the factory's LAN and prepares it for the road.
func (m *Machine) bake(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wait.Timeout(6*time.Minute), errors.New("the bake did not end"))
	defer cancel()
	if err := m.Program(); err != nil {
		return err
	}
	if err := m.Boot(ctx); err != nil {
		return err
	}
	stop, err := m.ServeFactory(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := m.PodsReady(ctx); err != nil {
		return err
	}
	if out, err := m.Bake(ctx); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if err := m.PodsReady(ctx); err != nil {
		return err
	}
	if out, err := m.Run(ctx, "touchdown", "images", "seed"); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if out, err := m.Bake(ctx, "--arm"); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return m.PowerOff(ctx)
}

// Bake runs `touchdown factory bake` until it is through: the node reboots in between, and the command ends with it.
func (m *Machine) Bake(ctx context.Context, flags ...string) (string, error) {
	return m.overReboots(ctx, append([]string{"touchdown", "factory", "bake"}, flags...))
}

// Unbake runs `touchdown factory unbake` in the same way.
func (m *Machine) Unbake(ctx context.Context) (string, error) {
	return m.overReboots(ctx, []string{"touchdown", "factory", "unbake"})
}

// overReboots repeats a command that a reboot of the node ends.
func (m *Machine) overReboots(ctx context.Context, argv []string) (string, error) {
	var all strings.Builder
	for range 3 {
		before := m.Boots()
		out, err := m.Run(ctx, argv...)
		all.Write(out)
		if err == nil {
			return all.String(), nil
		}
		if ctx.Err() != nil {
			return all.String(), fmt.Errorf("%s: %w", argv[2], context.Cause(ctx))
		}
		// A command that failed for another reason is not followed by a boot.
		soon, cancel := context.WithTimeout(ctx, wait.Timeout(30*time.Second))
		waited := poll(soon, "the node to boot again", func() bool { return m.Boots() > before })
		cancel()
		if waited != nil {
			return all.String(), fmt.Errorf("%s: %w", argv[2], err)
		}
		if err := m.PodsReady(ctx); err != nil {
			return all.String(), err
		}
	}
	return all.String(), fmt.Errorf("%s: three boots and not through", argv[2])
}
