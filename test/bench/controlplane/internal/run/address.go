package run

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// freeAddress finds a loopback address whose API, etcd and router ports nobody has, and keeps the router's port.
func freeAddress() (string, net.Listener, error) {
	var last error
	for range 50 {
		address := fmt.Sprintf("127.%d.%d.%d", 64+rand.IntN(63), 1+rand.IntN(254), 1+rand.IntN(254))
		l, err := claim(address)
		if err == nil {
			return address, l, nil
		}
		last = err
	}
	return "", nil, fmt.Errorf("finding a free loopback address: %w", last)
}

// local is where this machine itself reaches a server that listens at an address.
func local(listen string) string {
	if ip := net.ParseIP(listen); ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return listen
}

// claim takes an address by listening on the router's port: two benches can then never share one.
func claim(address string) (net.Listener, error) {
	router, err := net.Listen("tcp", net.JoinHostPort(address, "443"))
	if err != nil {
		return nil, fmt.Errorf("claiming the router's port: %w", err)
	}
	for _, port := range []string{"6443", "2379", "2380"} {
		l, err := net.Listen("tcp", net.JoinHostPort(address, port))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("claiming port %s: %w", port, err), router.Close())
		}
		if err := l.Close(); err != nil {
			return nil, errors.Join(fmt.Errorf("freeing port %s: %w", port, err), router.Close())
		}
	}
	return router, nil
}
