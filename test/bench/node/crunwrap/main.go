// Command crun-wrap runs crun on a machine that can neither lower OOM scores nor limit resources: it takes what would be
// refused out of the container's configuration, and changes nothing else.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const crun = "/usr/bin/crun"

func main() {
	if bundle := bundleOf(os.Args[1:]); bundle != "" {
		if err := relax(filepath.Join(bundle, "config.json")); err != nil {
			fmt.Fprintln(os.Stderr, "crun-wrap:", err)
			os.Exit(1)
		}
	}
	err := syscall.Exec(crun, append([]string{crun}, os.Args[1:]...), os.Environ())
	fmt.Fprintln(os.Stderr, "crun-wrap: starting crun:", err)
	os.Exit(1)
}

// bundleOf finds the folder of a container that is being made.
func bundleOf(args []string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--bundle="); ok {
			return value
		}
		if (arg == "--bundle" || arg == "-b") && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

func relax(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the container's configuration: %w", err)
	}
	var config map[string]any
	if err := json.Unmarshal(data, &config); err != nil {
		return fmt.Errorf("parsing the container's configuration: %w", err)
	}
	if process, ok := config["process"].(map[string]any); ok {
		delete(process, "rlimits")
		if score, ok := process["oomScoreAdj"].(float64); ok && score < 0 {
			process["oomScoreAdj"] = 0
		}
	}
	if linux, ok := config["linux"].(map[string]any); ok {
		if resources, ok := linux["resources"].(map[string]any); ok {
			linux["resources"] = map[string]any{"devices": resources["devices"]}
		}
	}
	if data, err = json.Marshal(config); err != nil {
		return fmt.Errorf("encoding the container's configuration: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("writing the container's configuration: %w", err)
	}
	return nil
}
