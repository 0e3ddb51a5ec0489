// Command guest is the bench's way into a guest: it runs in it as root, reads what to run from a virtio port, and answers
// with what that said. Commands run side by side. With "lay" it is the stand-in of Ignition.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"touchdown/test/bench/kernel/talk"
)

func main() {
	work := serve
	if slices.Equal(os.Args[1:], []string{"lay"}) {
		work = func() error { return lay(os.Stdin, "/") }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// find waits for the port: the driver makes it in its own time, and udev's name for it comes late in a boot.
func find() string {
	for {
		names, _ := filepath.Glob("/sys/class/virtio-ports/*/name")
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil && strings.TrimSpace(string(text)) == talk.Port {
				return filepath.Join("/dev", filepath.Base(filepath.Dir(name)))
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// stampPackets has the kernel note when each packet came, as long as this program runs. The first socket that wants to know has the kernel
// rewrite its own code for receiving, and the last one back: each ping and each question to a time server. In qemu 7.2 a processor of
// the guest that was just there then stayed in that one instruction for ever (netif_receive_skb_list_internal), and with it the network.
func stampPackets() error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err == nil {
		err = syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_TIMESTAMP, 1)
	}
	if err != nil {
		return fmt.Errorf("asking for the times of packets: %w", err)
	}
	return nil
}

func serve() error {
	port, err := os.OpenFile(find(), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("opening the port to the bench: %w", err)
	}
	if err := stampPackets(); err != nil {
		return err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return fmt.Errorf("reading the boot's id: %w", err)
	}
	var turn sync.Mutex
	say := func(a talk.Answer) {
		line, err := json.Marshal(a)
		if err != nil {
			panic(err) // text and numbers
		}
		turn.Lock()
		defer turn.Unlock()
		// The break before ends what an answer left unfinished that the last boot did not get out.
		_, _ = port.Write(append(append([]byte("\n"), line...), '\n'))
	}
	say(talk.Answer{Boot: strings.TrimSpace(string(boot))})
	lines := bufio.NewReader(port)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("reading from the bench: %w", err)
		}
		var order talk.Order
		if json.Unmarshal(line, &order) == nil && len(order.Argv) > 0 {
			go func() { say(run(order)) }()
		}
	}
}

func run(o talk.Order) talk.Answer {
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(o.Stdin), &out, &complaint
	cmd.Env = []string{"HOME=/root", "TERM=dumb", "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	err := cmd.Run()
	a := talk.Answer{ID: o.ID, Out: out.Bytes(), Complaint: complaint.Bytes()}
	switch {
	case cmd.ProcessState != nil:
		a.Code = cmd.ProcessState.ExitCode()
	case err != nil:
		a.Code, a.Complaint = -1, []byte(err.Error())
	}
	return a
}
