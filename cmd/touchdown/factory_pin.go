package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"touchdown/steps/site"
	"touchdown/steps/site/pin"
)

// readPIN reads the PIN of the consoles from a file, or asks for it on the terminal. It is in no argument, where ps shows it.
func readPIN(cmd *cobra.Command, file string) (site.Secret, error) {
	text, err := pinText(cmd, file)
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	if wrong, fix := pin.Check(text); wrong.String() != "" {
		return "", usage(fmt.Errorf("--console-pin-file: the PIN %s; %s", wrong, fix))
	}
	if pin.Hash(text).Valid() {
		return "", usage(errors.New("--console-pin-file: this is the hash of a PIN; give the PIN itself"))
	}
	return site.Secret(text), nil
}

func pinText(cmd *cobra.Command, file string) (string, error) {
	in, isFile := cmd.InOrStdin().(*os.File)
	switch {
	case file != "-":
		text, err := readSecret(cmd, "console-pin-file", file)
		return string(text), err
	case isFile && term.IsTerminal(int(in.Fd())):
		return typedPIN(cmd, int(in.Fd()))
	}
	line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), maxKeyFile)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the PIN: %w", err)
	}
	return line, nil
}

// typedPIN asks for the PIN twice: nobody sees it, and a slip would lock the consoles of a node that has left the factory.
func typedPIN(cmd *cobra.Command, terminal int) (string, error) {
	var typed [2]string
	for i, prompt := range []string{"PIN of the consoles: ", "The same PIN again: "} {
		fmt.Fprint(complaints(cmd), prompt)
		text, err := term.ReadPassword(terminal)
		fmt.Fprintln(complaints(cmd))
		if err != nil {
			return "", fmt.Errorf("reading the PIN: %w", err)
		}
		typed[i] = string(text)
	}
	if typed[0] != typed[1] {
		return "", usage(errors.New("--console-pin-file: the two PINs differ; start again"))
	}
	return typed[0], nil
}
