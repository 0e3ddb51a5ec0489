// Package crds picks the custom resource definitions the bench serves out of the openshift/api module and installs them.
package crds

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// wanted lists the resources by the folder of their definitions. Sets differ between releases: what a release lacks is left out.
func wanted() map[string][]string {
	return map[string][]string{
		"config/v1": {"apiservers", "authentications", "clusteroperators", "clusterversions", "consoles", "dnses", "featuregates",
			"imagedigestmirrorsets", "images", "imagetagmirrorsets", "infrastructures", "ingresses", "networks", "nodes", "oauths",
			"operatorhubs", "proxies", "schedulers"},
		"imageregistry/v1":              {"configs"},
		"machineconfiguration/v1":       {"kubeletconfigs", "machineconfigpools", "machineconfigs", "pinnedimagesets"},
		"operator/v1":                   {"authentications", "consoles", "dnses", "etcds", "ingresscontrollers", "kubeapiservers", "kubecontrollermanagers", "kubeschedulers", "machineconfigurations", "openshiftapiservers"},
		"operator/v1alpha1":             {"imagecontentsourcepolicies"},
		"operatorcontrolplane/v1alpha1": {"podnetworkconnectivitychecks"},
		"console/v1":                    {"consoleclidownloads"},
		"route/v1":                      {"routes"},
	}
}

// Copy finds the openshift/api module of the current folder's go.mod and copies the wanted definitions to a folder, over what was there.
func Copy(to string) (int, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/api").Output()
	if err != nil {
		return 0, fmt.Errorf("finding the openshift/api module: %w", err)
	}
	return CopyFrom(strings.TrimSpace(string(out)), to)
}

// CopyFrom copies the wanted definitions of an unpacked openshift/api module.
func CopyFrom(module, to string) (int, error) {
	if err := os.RemoveAll(to); err != nil {
		return 0, fmt.Errorf("emptying %s: %w", to, err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return 0, fmt.Errorf("making %s: %w", to, err)
	}
	n := 0
	for folder, resources := range wanted() {
		for _, resource := range resources {
			file, ok := find(filepath.Join(module, folder, "zz_generated.crd-manifests"), resource)
			if !ok {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return n, fmt.Errorf("reading a definition: %w", err)
			}
			// The folder goes into the name: config and operator resources share theirs.
			name := strings.ReplaceAll(folder, "/", "_") + "_" + resource + ".yaml"
			if err := os.WriteFile(filepath.Join(to, name), data, 0o644); err != nil {
				return n, fmt.Errorf("writing a definition: %w", err)
			}
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("no definitions under %s", module)
	}
	return n, nil
}

// find takes the definition of a resource for the default feature set, whatever its prefix for the install order is.
func find(dir, resource string) (string, bool) {
	for _, pattern := range []string{"*_" + resource + "-Default.crd.yaml", "*_" + resource + ".crd.yaml", resource + ".crd.yaml"} {
		if files, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(files) > 0 {
			return files[0], true
		}
	}
	return "", false
}
