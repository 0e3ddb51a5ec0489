// Command pod is all that is in the images of the bench: it waits (pause), or answers HTTP with its name.
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
	if len(os.Args) > 2 && os.Args[1] == "http" {
		name, _ := os.Hostname()
		server := &http.Server{
			Addr: os.Args[2], ReadHeaderTimeout: 5 * time.Second,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, name) }),
		}
		go func() {
			if err := server.ListenAndServe(); err != nil {
				fmt.Fprintln(os.Stderr, "pod:", err)
				os.Exit(1)
			}
		}()
	}
	<-stop
}
