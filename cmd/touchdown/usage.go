package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wrapArgs makes wrong arguments, and flags that do not go together, usage errors in every command.
func wrapArgs(cmd *cobra.Command) {
	cmd.Flags().VisitAll(takesOne)
	cmd.PersistentFlags().VisitAll(takesOne)
	pre := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error { // cobra's own look at groups of flags comes after it
		if err := cmd.ValidateFlagGroups(); err != nil {
			return usage(err)
		}
		if pre == nil {
			return nil
		}
		return pre(cmd, args)
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) != nil {
				return usage(wrongArgs(cmd, args))
			}
			return emptyArgs(cmd, args)
		}
	}
	for _, child := range cmd.Commands() {
		wrapArgs(child)
	}
}

// wrongArgs says what is wrong with the arguments of a command, and how they are.
func wrongArgs(cmd *cobra.Command, args []string) error {
	switch {
	case !cmd.HasParent():
		return unknownCommand(cmd, args[0], `; "touchdown --help" lists them all`)
	case len(args) == 0:
		return fmt.Errorf("an argument is missing: %s", cmd.UseLine())
	case cmd.Flags().Lookup("file") != nil:
		return fmt.Errorf("%s takes no argument %q; a site config is given with -f FILE", cmd.CommandPath(), args[0])
	}
	return fmt.Errorf("wrong arguments %q: %s", args, cmd.UseLine())
}

// emptyArgs refuses an argument without text, as a script gives whose variable is not set.
func emptyArgs(cmd *cobra.Command, args []string) error {
	for i, arg := range args {
		if strings.TrimSpace(arg) == "" {
			return usage(fmt.Errorf("%s is empty", argName(cmd, i)))
		}
	}
	return nil
}

// argName is what the usage line calls an argument.
func argName(cmd *cobra.Command, i int) string {
	line := flagged.ReplaceAllString(cmd.Use, "")
	if names := capitals.FindAllString(line, -1); i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("argument %d", i+1)
}

var (
	flagged  = regexp.MustCompile(`--[a-z-]+( [A-Z]+)?`)
	capitals = regexp.MustCompile(`\b[A-Z][A-Z-]+\b`)
)

// unknownCommand names the command that a mistyped one most likely means; otherwise is what helps where none is like it.
func unknownCommand(of *cobra.Command, name, otherwise string) error {
	of.SuggestionsMinimumDistance = 2
	if like := of.SuggestionsFor(name); len(like) > 0 {
		otherwise = "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return fmt.Errorf("%s has no command %q%s", of.CommandPath(), name, otherwise)
}

// group makes a command that only holds others. cobra would take a mistyped one for a wish to see the help.
func group(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(children...)
	onlyHolds(cmd)
	return cmd
}

func onlyHolds(cmd *cobra.Command) {
	cmd.Args = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var known []string
		for _, c := range cmd.Commands() {
			if !c.Hidden {
				known = append(known, c.Name())
			}
		}
		return usage(unknownCommand(cmd, args[0], ", only "+strings.Join(known, ", ")))
	}
}

// strict adds the commands that cobra brings, and has them refuse what is not there, too: they would print their help, and end with 0.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch {
		case cmd.Name() == "completion" && cmd.RunE == nil:
			onlyHolds(cmd)
			for _, shell := range cmd.Commands() {
				wrapArgs(shell)
			}
		case cmd.Name() == "help" && cmd.Args == nil:
			cmd.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return usage(unknownCommand(of, args[len(args)-max(len(rest), 1)], ""))
				}
				return nil
			}
		}
	}
}

// takesOne has a flag with one value refuse a second one: pflag would take the last, and say nothing about the others.
func takesOne(flag *pflag.Flag) {
	switch flag.Value.(type) {
	case *single, pflag.SliceValue:
	default:
		flag.Value = &single{Value: flag.Value, name: flag.Name}
		if flag.DefValue == "0s" {
			flag.DefValue = "0" // for the help, which knows no zero of a duration behind another type
		}
	}
}

// mayBeEmpty are the flags for which no text is a value, beside those with other types than text.
var mayBeEmpty = []string{"reason"}

// single is the value of such a flag. The same value twice is not a mistake. No value is one: whoever gives the flag does not mean to
// do without it.
type single struct {
	pflag.Value
	name  string
	given *string
}

func (s *single) Set(value string) error {
	if s.given != nil && *s.given != value {
		return twiceError(s.name)
	}
	if value == "" && s.Type() == "string" && !slices.Contains(mayBeEmpty, s.name) {
		return emptyError(s.name)
	}
	s.given = &value
	return s.Value.Set(value)
}

// twiceError is about the flag of this name. It tells no value: an address can have a password.
type twiceError string

func (flag twiceError) Error() string {
	return fmt.Sprintf("--%s takes one value, and is given more than once with different ones", string(flag))
}

// emptyError is about the flag of this name, too.
type emptyError string

func (flag emptyError) Error() string { return fmt.Sprintf("--%s is empty", string(flag)) }

// parsed are Go's own words about a number.
var parsed = regexp.MustCompile(`: (strconv\.\w+: parsing .*: |time: )`)

// wrongFlag is an error about a flag, in words for people, with where the flags stand.
func wrongFlag(cmd *cobra.Command, err error) error {
	if twice, ok := errors.AsType[twiceError](err); ok {
		return usage(twice)
	}
	if empty, ok := errors.AsType[emptyError](err); ok {
		return usage(empty)
	}
	text := parsed.ReplaceAllString(err.Error(), ": ")
	if strings.HasPrefix(text, "unknown") {
		text += fmt.Sprintf("; %q lists the flags", cmd.CommandPath()+" --help")
	}
	return usage(errors.New(text))
}

// wantsJSON tells whether a command that failed was asked for JSON. pflag reads no flag behind a wrong one, so that the words themselves
// are looked at.
func wantsJSON(cmd *cobra.Command, args []string) bool {
	o := cmd.Flags().Lookup("output")
	if o == nil || o.Value.String() == "json" {
		return o != nil
	}
	for i, word := range args {
		switch word {
		case "--":
			return false
		case "-o=json", "-ojson", "--output=json":
			return true
		case "-o", "--output":
			if i+1 < len(args) && args[i+1] == "json" {
				return true
			}
		}
	}
	return false
}
