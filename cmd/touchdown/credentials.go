package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/handout"
	"touchdown/steps/session"
)

// credentials are the flags of `credentials`.
type credentials struct {
	out   string
	force bool
}

func credentialsCommand(c *common) *cobra.Command {
	var of credentials
	cmd := &cobra.Command{
		Use: "credentials", Short: "Hand out the login of the landed cluster", Args: cobra.NoArgs,
		Long: `Credentials hands out what the people of the site get into their cluster with, once the node has landed and before the
hand-over is accepted; on a node that is locked, after it was unlocked at a console.

Without --out it prints address, user and the new password of kubeadmin, to a terminal only. With --out FILE it writes a
kubeconfig for the API's new name into FILE (mode 0600), and says how long it is accepted; this takes a minute or two, until
the API knows it. With -o json it prints, or writes into FILE, one object with both.

Who asks again gets the same, until the engine is started again: then another password and another kubeconfig are made, and
those before them are no longer accepted. What the site config says (spec.credentials) counts here, too.`,
		Example: `  touchdown credentials
  touchdown credentials --out /root/kubeconfig
  ssh -t core@node sudo /usr/local/bin/touchdown credentials`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := c.json()
			if err != nil {
				return err
			}
			if of.out == "" && !toTerminal(cmd) {
				return usage(errors.New("a login is printed to a terminal only; for a file use --out FILE"))
			}
			if err := of.to().mayWrite(); err != nil {
				return err
			}
			got, err := of.ask(cmd.Context(), c.client(), handout.Ask{Password: of.out == "" || asJSON, Kubeconfig: of.out != "" || asJSON})
			if err != nil {
				return explainClient(err)
			}
			return of.deliver(cmd, got, asJSON)
		},
	}
	c.outputFlag(cmd)
	cmd.Flags().StringVar(&of.out, "out", "", "write a kubeconfig into this new file; with -o json everything")
	cmd.Flags().BoolVar(&of.force, "force", false, "take control from another console")
	return cmd
}

// ask takes control for as long as it asks.
func (of credentials) ask(ctx context.Context, engine session.Session, ask handout.Ask) (*handout.LogIn, error) {
	token, err := engine.TakeControl(ctx, consoleName(), of.force)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	held := make(chan struct{})
	go func() { // the stream keeps control: a kubeconfig takes minutes
		defer close(held)
		_ = engine.Events(ctx, token, 0, func([]event.Event) error { return nil }) // who lost control is told by Give
	}()
	got, err := engine.Give(ctx, token, ask)
	stop()
	<-held
	ctx, stop = context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer stop()
	_ = engine.ReleaseControl(ctx, token) // someone may have taken it over
	return got, err
}

// to is the file of --out.
func (of credentials) to() named {
	return named{flag: "out", file: of.out, otherwise: "leave --out away for this terminal"}
}

func (of credentials) deliver(cmd *cobra.Command, got *handout.LogIn, asJSON bool) error {
	switch {
	case of.out == "" && asJSON:
		return printJSON(cmd, got)
	case of.out == "":
		if _, err := io.WriteString(printed(cmd), logInText(got)); err != nil {
			return fmt.Errorf("printing the login: %w", err)
		}
		return nil
	}
	content := []byte(got.Kubeconfig)
	if asJSON {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(got); err != nil {
			return fmt.Errorf("encoding the login: %w", err)
		}
		content = text.Bytes()
	}
	if err := of.to().write("the login", content, 0o600); err != nil {
		return err
	}
	fmt.Fprint(complaints(cmd), lasting(of.out, got))
	return nil
}

// logInText is a login for people to read out.
func logInText(got *handout.LogIn) string {
	text := ""
	if got.Console != "" {
		text += linef("Web console  %s", got.Console)
	}
	text += linef("API          %s", got.API) + linef("User         %s", got.User)
	if got.Why != (message.Text{}) {
		return text + linef("Password     none: %s", got.Why)
	}
	return text + linef("Password     %s", got.Password)
}

// lasting says how long a kubeconfig serves.
func lasting(file string, got *handout.LogIn) string {
	text := linef("%s opens %s until %s.", file, got.API, got.Until.UTC().Format(time.DateOnly))
	if got.Server.Before(got.Until) {
		text += linef("The API's own certificate ends before that, on %s.", got.Server.UTC().Format(time.DateOnly))
	}
	return text
}
