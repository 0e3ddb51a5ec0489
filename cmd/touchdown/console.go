package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"touchdown/backend/host"
	"touchdown/backend/keyboard"
	"touchdown/steps/session"
	"touchdown/tui"
)

func (c *common) consoleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Open the wizard on this terminal",
		Long: `The console is a window on the engine. Any number may be open at once; one of them has control. Closing
a console, or losing its line, changes nothing: the work goes on.

It speaks the language of --language, else the one that a person chose on its line, else that of the variables LC_ALL,
LC_MESSAGES or LANG where there is one; the help page (?) changes it. Two consoles of a node may differ. Other commands, reports and logs are English.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.console(cmd) },
	}
	c.localFlags(cmd)
	languageFlag(cmd, &c.language)
	return cmd
}

// languageFlag adds --language, for the commands that show the console.
func languageFlag(cmd *cobra.Command, language *string) {
	known := tui.Languages()
	cmd.Flags().StringVar(language, "language", "", "language of this console: "+strings.Join(known, ", "))
	_ = cmd.RegisterFlagCompletionFunc("language", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
}

// canShow refuses a language that is not there, and what is not a terminal, before anything is done. instead does the same without one.
func (c *common) canShow(instead string) error {
	if _, err := tui.Language(c.language); err != nil {
		return usage(fmt.Errorf("--language: %w", err))
	}
	if c.hooks.console == nil && (!term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd()))) {
		return usage(fmt.Errorf("the console needs a terminal; without one use `%s`", instead))
	}
	return nil
}

func (c *common) console(cmd *cobra.Command) error {
	if err := c.canShow("touchdown apply -f FILE"); err != nil {
		return err
	}
	if c.hooks.console != nil {
		return c.hooks.console()
	}
	engine, closeSession, err := c.session(cmd.Context())
	if err != nil {
		return err
	}
	if awake, err := c.wakeForPerson(cmd.Context(), engine); !awake {
		return errors.Join(err, closeSession())
	}
	letGo()
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	defer signal.Stop(hangUps)
	options := tui.Options{Name: consoleName(), Language: c.language, In: os.Stdin, Out: os.Stdout, Memory: "/var/tmp"}
	if keyboard.At(options.Name) {
		options.Keyboard = keyboard.Machine{Host: host.Open(host.Options{Root: c.hooks.root, Log: slog.New(slog.DiscardHandler)})}
	}
	err = tui.Run(cmd.Context(), engine, options)
	if errors.Is(err, tui.ErrHungUp) || len(hangUps) > 0 { // normal on a serial line; nobody is there to be told
		_ = closeSession()
		return &exitError{code: exitHungUp, quiet: true, err: tui.ErrHungUp}
	}
	return errors.Join(err, closeSession())
}

// explainClient turns a client's error into one that says what to do.
func explainClient(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, session.ErrNoEngine):
		return noEngine(err)
	case errors.Is(err, session.ErrControlHeld):
		return fmt.Errorf("%w; add --force to take it over", err)
	}
	return err
}
