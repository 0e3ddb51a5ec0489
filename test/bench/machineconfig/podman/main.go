// Command podman stands in for podman on the bench's node. All that it can run is baremetal-runtimecfg's `node-ip set`, as
// nodeip-configuration.service does: here, on the host's network and files, and not in a container.
//
// Which addresses are candidates and which is chosen is the code of baremetal-runtimecfg's module. What is around that is in
// its main package, and newer than the module: an address chosen once stays for this boot, the file primary-ip, and pauses that
// double while nothing is found.
package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openshift/baremetal-runtimecfg/pkg/utils"
)

const (
	primary = "/run/nodeip-configuration/primary-ip"
	longest = 300 * time.Second
)

func main() {
	at := slices.Index(os.Args, "node-ip")
	if at < 0 || len(os.Args) < at+2 || os.Args[at+1] != "set" {
		fail("the bench's podman runs nothing but node-ip set")
	}
	hints := hints(os.Args[at+2:])
	if ip, err := os.ReadFile(primary); err == nil {
		fmt.Printf("Found ip %s in %s, no need for new configuration, exiting\n", ip, primary)
		return
	}
	// A real one takes seconds to start its container and pulls its image first. No test waits for that.
	for pause := 2 * time.Second; ; pause = min(2*pause, longest) {
		chosen, err := choose(hints)
		if err != nil {
			fail(err.Error())
		}
		if len(chosen) > 0 {
			fmt.Println("Chosen Node IPs:", chosen)
			if err := set(chosen); err != nil {
				fail(err.Error())
			}
			return
		}
		fmt.Println("Failed to find a suitable node IP")
		time.Sleep(pause)
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, "podman:", text)
	os.Exit(1)
}

// hints are the addresses among the arguments; the module knows --retry-on-failure only, and newer flags change nothing here.
func hints(arguments []string) []net.IP {
	var found []net.IP
	for _, a := range arguments {
		if ip := net.ParseIP(a); ip != nil {
			found = append(found, ip)
		}
	}
	return found
}

func choose(hints []net.IP) ([]net.IP, error) {
	if len(hints) > 0 {
		if chosen, err := utils.AddressesRouting(hints, utils.ValidNodeAddress); len(chosen) > 0 || err != nil {
			return chosen, err
		}
	}
	return utils.AddressesDefault(utils.ValidNodeAddress)
}

// set writes what kubelet, CRI-O and configure-ovs read.
func set(chosen []net.IP) error {
	all := make([]string, 0, len(chosen))
	for _, ip := range chosen {
		all = append(all, ip.String())
	}
	for path, text := range map[string]string{
		"/etc/systemd/system/kubelet.service.d/20-nodenet.conf": fmt.Sprintf("[Service]\nEnvironment=\"KUBELET_NODE_IP=%s\" \"KUBELET_NODE_IPS=%s\"\n", all[0], strings.Join(all, ",")),
		"/etc/systemd/system/crio.service.d/20-nodenet.conf":    fmt.Sprintf("[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=%s\"\n", all[0]),
		primary: all[0],
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
