// Command podman stands in for podman on the bench's node. All that it can run is baremetal-runtimecfg's `node-ip set`, as
// nodeip-configuration.service does: here, on the host's network and files, and not in a container.
//
// Which addresses are valid, and which of them is in the network of a hint, is the code of baremetal-runtimecfg's module. That is of
// 2021, and its choice by default routes, its flags and its files have changed since: these are the bench's, and test/bench/nodeip
// holds them against today's program.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	folder  = "/run/nodeip-configuration"
	primary = folder + "/primary-ip"
	longest = 300 * time.Second
)

func main() {
	at := slices.Index(os.Args, "node-ip")
	if at < 0 || len(os.Args) < at+2 || os.Args[at+1] != "set" {
		fail(errors.New("the bench's podman runs nothing but node-ip set"))
	}
	if ip, err := os.ReadFile(primary); err == nil && net.ParseIP(string(ip)) != nil {
		fmt.Printf("Found ip %s in %s, no need for new configuration, exiting\n", ip, primary)
		return
	}
	var c choice
	flags := flag.NewFlagSet("node-ip", flag.ExitOnError)
	retry := flags.Bool("retry-on-failure", false, "go on until there is an address")
	flags.BoolVar(&c.six, "prefer-ipv6", false, "IPv6 first")
	network := flags.String("network-type", "OVNKubernetes", "of the cluster")
	_ = flags.Parse(os.Args[at+2:])
	c.ovn = *network == "OVNKubernetes"
	for _, a := range flags.Args() {
		hint := net.ParseIP(a)
		if hint == nil {
			fail(fmt.Errorf("failed to parse IP address %s", a))
		}
		c.hints = append(c.hints, hint)
	}
	chosen, err := c.wait(*retry)
	if err != nil {
		fail(err)
	}
	fmt.Println("Chosen Node IPs:", chosen)
	if err := set(chosen); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "podman:", err)
	os.Exit(1)
}

// wait asks until there is an address, with pauses that double; one that nothing can listen at yet is asked for each second.
func (c choice) wait(retry bool) ([]net.IP, error) {
	// A real one takes seconds to start its container and pulls its image first. No test waits for that.
	for pause := 2 * time.Second; ; pause = min(2*pause, longest) {
		chosen, err := c.choose()
		if err == nil && len(chosen) > 0 {
			if err = usable(chosen[0]); err == nil {
				return chosen, nil
			}
		}
		switch {
		case !retry:
			return nil, errors.Join(errors.New("failed to find node IP"), err)
		case err != nil:
			fmt.Println("Chosen node IP is not usable:", err)
			time.Sleep(time.Second)
		default:
			fmt.Println("Failed to find a suitable node IP")
			time.Sleep(pause)
		}
	}
}

// usable fails for an IPv6 address that is tentative.
func usable(ip net.IP) error {
	if !isSix(ip) {
		return nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort(ip.String(), "0"))
	if err != nil {
		return err
	}
	return l.Close()
}

// set writes what kubelet, CRI-O and configure-ovs read.
func set(chosen []net.IP) error {
	all := make([]string, 0, len(chosen))
	files := map[string]string{}
	for _, ip := range chosen {
		all = append(all, ip.String())
		family := "ipv4"
		if isSix(ip) {
			family = "ipv6"
		}
		files[filepath.Join(folder, family)] = ip.String()
	}
	files["/etc/systemd/system/kubelet.service.d/20-nodenet.conf"] = fmt.Sprintf("[Service]\nEnvironment=\"KUBELET_NODE_IP=%s\" \"KUBELET_NODE_IPS=%s\"\n", all[0], strings.Join(all, ","))
	files["/etc/systemd/system/crio.service.d/20-nodenet.conf"] = fmt.Sprintf("[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=%s\"\n", all[0])
	files[primary] = all[0]
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
