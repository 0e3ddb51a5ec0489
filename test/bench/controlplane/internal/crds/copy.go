// Package crds picks the custom resource definitions the bench serves out of the openshift/api module and installs them.
package crds

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const module = "github.com/openshift/api"

// Older is the end of openshift/api's branch for 4.14.
const Older = module + "@v0.0.0-20231012190404-7b36cb38c7d0"

// Today is the release of openshift/api that this program is built with.
func Today() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("the program does not know what it is built from")
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return module + "@" + dep.Version, nil
		}
	}
	return "", fmt.Errorf("the program is built without %s", module)
}

// wanted lists the resources by the folder of their definitions.
func wanted() map[string][]string {
	return map[string][]string{
		"config/v1": {
			"apiservers", "authentications", "clusteroperators", "clusterversions", "consoles", "dnses", "featuregates",
			"imagedigestmirrorsets", "images", "imagetagmirrorsets", "infrastructures", "ingresses", "networks", "nodes", "oauths",
			"operatorhubs", "proxies", "schedulers",
		},
		"imageregistry/v1":        {"configs"},
		"machineconfiguration/v1": {"kubeletconfigs", "machineconfigpools", "machineconfigs", "pinnedimagesets"},
		"operator/v1": {
			"authentications", "consoles", "dnses", "etcds", "ingresscontrollers", "kubeapiservers", "kubecontrollermanagers",
			"kubeschedulers", "machineconfigurations", "openshiftapiservers",
		},
		"operator/v1alpha1":             {"imagecontentsourcepolicies"},
		"operatorcontrolplane/v1alpha1": {"podnetworkconnectivitychecks"},
		"console/v1":                    {"consoleclidownloads"},
		"route/v1":                      {"routes"},
	}
}

// Copy downloads releases of openshift/api and copies the wanted definitions to a folder, over what was there.
// Each comes from the first release that has it: the older ones do not hold those of the machine config operator.
func Copy(to string, releases ...string) (int, error) {
	found := map[string]string{}
	for _, release := range releases {
		dir, err := download(release)
		if err != nil {
			return 0, err
		}
		for folder, resources := range wanted() {
			if err := collect(found, filepath.Join(dir, folder), folder, resources); err != nil {
				return 0, err
			}
		}
	}
	if len(found) == 0 {
		return 0, fmt.Errorf("no definitions in %s", releases)
	}
	return len(found), write(found, to)
}

// download asks the go command outside any module, so that no go.mod takes notice.
func download(release string) (dir string, err error) {
	cmd := exec.Command("go", "mod", "download", "-json", release)
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	var answer struct{ Dir, Error string }
	if decodeErr := json.Unmarshal(out, &answer); decodeErr != nil || answer.Error != "" {
		return "", fmt.Errorf("downloading %s: %w %s", release, err, answer.Error)
	}
	return answer.Dir, nil
}

// collect adds the definitions of one folder for the default feature set. File names follow no rule over the releases; what counts is inside.
func collect(found map[string]string, dir, folder string, resources []string) error {
	var files []string
	for _, pattern := range []string{"zz_generated.crd-manifests/*.yaml", "*crd.yaml"} {
		more, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("listing definitions: %w", err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		if strings.Contains(file, "NoUpgrade") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a definition: %w", err)
		}
		var crd struct {
			Spec struct{ Names struct{ Plural string } }
		}
		if err := yaml.Unmarshal(data, &crd); err != nil {
			return fmt.Errorf("parsing %s: %w", filepath.Base(file), err)
		}
		// The folder goes into the name: config and operator resources share theirs.
		name := strings.ReplaceAll(folder, "/", "_") + "_" + crd.Spec.Names.Plural + ".yaml"
		if _, ok := found[name]; !ok && slices.Contains(resources, crd.Spec.Names.Plural) {
			found[name] = string(data)
		}
	}
	return nil
}

func write(found map[string]string, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("emptying %s: %w", to, err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("making %s: %w", to, err)
	}
	for name, text := range found {
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing a definition: %w", err)
		}
	}
	return nil
}
