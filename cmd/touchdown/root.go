package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/steps/session"
	"touchdown/steps/wire"
)

// defaultKubeconfig needs neither DNS nor the site's network; it is the one that OpenShift's own recovery uses.
const defaultKubeconfig = rhcos.Resources + "/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig"

// common are the flags of more than one command, by subject. A command that reads one subject takes that alone.
type common struct {
	connection
	format

	language string // of the console
}

// target is the node that a command works on, and what a test puts in its place.
type target struct {
	engine engineFlags
	hooks  hooks
}

// connection is the way to the engine of a node: over its socket, or in this process.
type connection struct {
	target
	socket string
	local  bool
}

// format is the form of a command's output.
type format struct{ output string }

func newRoot(h hooks) *cobra.Command {
	c := &common{connection: connection{target: target{hooks: h}}}
	root := &cobra.Command{
		Use:   "touchdown",
		Short: "Land a single-node OpenShift server at its site",
		Long: `Touchdown takes a single-node OpenShift server that was built in a factory to its site: hardware check,
network, names, relocation, verification, hand-over report. One engine does the work; any number of consoles
and headless commands watch it and tell it what to do.

Without a command it opens the console.

Exit codes: 0 done, 1 failed or did not pass, 2 wrong command line or site config (nothing was begun),
3 a reboot is needed and the site config does not allow it, 4 the console's line hung up.

With -o json a command that fails ends its output with one line: {"error": {"code", "summary", "fix", "detail"}}.
All but summary may be absent. Standard error says the same in plain text. The results of site validate and of
apply --dry-run name what is wrong themselves, without that line.`,
		SilenceErrors: true, SilenceUsage: true, Version: version, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.console(cmd) },
	}
	root.SetFlagErrorFunc(wrongFlag)
	root.PersistentFlags().StringVar(&c.socket, "socket", env("TOUCHDOWN_SOCKET", layout.Socket), "where the engine listens")
	c.localFlags(root)
	languageFlag(root, &c.language)
	images, manual := imageCommands{&c.target, &c.format}, installCommands{&c.connection}
	root.AddCommand(engineCommand(&c.connection), c.consoleCommand(), applyCommand(c), undoCommand(c), statusCommand(c),
		eventsCommand(c), answersCommand(&c.connection), siteCommand(&c.format), reportCommand(c), factoryCommand(c), images.command(),
		credentialsCommand(c), certificatesCommand(c), inventoryCommand(c), checkCommand(c), ledgerCommand(&c.format), mediaCommand(&c.format), isoCommand(&c.format), mediaReader(), mediaWriter(), burnInWorker(c.hooks),
		manual.install(), manual.uninstall(), updateCommand(&c.connection), wipeCommand(&c.connection), versionCommand(&c.format))
	wrapArgs(root)
	return root
}

// outputFlag adds -o, with what may stand behind it: text and json, unless others are named.
func (f *format) outputFlag(cmd *cobra.Command, values ...string) {
	if values == nil {
		values = []string{"text", "json"}
	}
	last := len(values) - 1
	cmd.Flags().StringVarP(&f.output, "output", "o", values[0], strings.Join(values[:last], ", ")+" or "+values[last])
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// json tells whether -o json was given, and refuses anything but text and json.
func (f *format) json() (bool, error) {
	switch f.output {
	case "text", "json":
		return f.output == "json", nil
	}
	return false, usage(fmt.Errorf("-o %s: text or json", f.output))
}

// client is the session of a command that needs an engine at work.
func (c *connection) client() session.Session { return wire.Dial(c.socket) }

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// consoleName tells those who take control apart: "tty1", "pts/0 (ssh)". What no person sits at is named by its command and process,
// such as "touchdown apply (4711)": the engine gives control back to who has the same name, so that no two may have one.
func consoleName() string {
	name, err := os.Readlink("/proc/self/fd/0")
	if err != nil || !strings.HasPrefix(name, "/dev/") || !term.IsTerminal(int(os.Stdin.Fd())) {
		command := "touchdown"
		if len(os.Args) > 1 && strings.Trim(os.Args[1], "abcdefghijklmnopqrstuvwxyz") == "" {
			command += " " + os.Args[1]
		}
		return fmt.Sprintf("%s (%d)", command, os.Getpid())
	}
	name = strings.TrimPrefix(name, "/dev/")
	if os.Getenv("SSH_CONNECTION") != "" {
		name += " (ssh)"
	}
	return name
}
