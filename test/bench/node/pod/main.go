// Command pod is what the images of the bench run: it waits (pause), answers HTTP with its name (http ADDRESS), or changes
// files as programs do and ends (touch FILE...).
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	switch {
	case len(os.Args) > 2 && os.Args[1] == "http":
		go serve(os.Args[2])
	case len(os.Args) > 2 && os.Args[1] == "touch":
		for _, name := range os.Args[2:] {
			if err := touch(name); err != nil {
				fmt.Fprintln(os.Stderr, "pod:", err)
				os.Exit(1)
			}
		}
		return
	}
	<-stop
}

func serve(address string) {
	name, _ := os.Hostname()
	server := &http.Server{
		Addr: address, ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, name) }),
	}
	if err := server.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, "pod:", err)
		os.Exit(1)
	}
}

// touch makes the file if need be, adds to it, changes its rights and renames it there and back.
func touch(name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := fmt.Fprintln(file, "touched"); err != nil {
		return err
	}
	for _, change := range []error{os.Chmod(name, 0o600), os.Rename(name, name+".moved"), os.Rename(name+".moved", name)} {
		if change != nil {
			return change
		}
	}
	return nil
}
