package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/factory"
	"touchdown/backend/factory/second"
	"touchdown/backend/host"
)

// secondFlags are what `touchdown factory` is told of a second person behind the seal.
type secondFlags struct{ keys, revoked, name, sign string }

// noSecond takes the demand back.
const noSecond = "none"

func (f *secondFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.keys, "second-key", "", "refuse the seal until a second person has signed it with one of the keys in this file: public halves, one behind the other; none takes that back")
	cmd.Flags().StringVar(&f.revoked, "revoked", "", "with --second-key: list of revoked keys")
	cmd.Flags().StringVar(&f.name, "second", "", "name of the second person; --by names who runs the list")
	cmd.Flags().StringVar(&f.sign, "second-sign", "", "file with the private key of the second person, read at the seal; with --unattended it signs without a question")
}

// prepare reads the keys before anything is changed, and returns what keeps it all on the node. by is who runs the list, "" where that was
// not said; with unasked the second person signs without a question. Its errors are of who typed the flags.
func (f *secondFlags) prepare(cmd *cobra.Command, m *host.Machine, by string, unasked bool) (keep func(*host.Machine) error, err error) {
	if f.keys == noSecond {
		if f.revoked+f.name+f.sign != "" {
			return nil, errors.New("--second-key none takes the second person back: the other flags about one make no sense with it")
		}
		return second.Forget, nil
	}
	kept, err := second.Of(m)
	switch {
	case err != nil:
		return nil, err
	case f.revoked != "" && f.keys == "":
		return nil, errors.New("--revoked goes with --second-key")
	case f.keys == "" && kept == nil && f.name+f.sign != "":
		return nil, errors.New("the seal of this node needs no second person: give --second-key FILE.pub, too")
	case f.keys == "" && kept == nil:
		return func(*host.Machine) error { return nil }, nil
	}
	if err := f.check(by); err != nil {
		return nil, err
	}
	given, err := f.read(cmd)
	if err != nil {
		return nil, err
	}
	return func(m *host.Machine) error {
		s, err := second.Of(m) // of the stay that has begun since
		if err != nil {
			return err
		}
		if s == nil {
			s = &second.Person{Stay: factory.Stay(m)}
		}
		if f.keys != "" {
			s.Keys, s.Revoked = given.Keys, given.Revoked
		}
		for _, v := range []struct {
			to    *string
			value string
		}{{&s.First, by}, {&s.Name, f.name}, {&s.KeyFile, f.sign}} {
			if v.value != "" {
				*v.to = v.value
			}
		}
		s.Agreed = unasked && f.sign != ""
		return s.Keep(m)
	}, nil
}

// check judges the names and the path.
func (f *secondFlags) check(by string) error {
	for _, v := range []struct {
		flag, value string
		check       func(string) error
	}{{"by", by, second.CheckName}, {"second", f.name, second.CheckName}, {"second-sign", f.sign, second.CheckKeyFile}} {
		if v.value == "" {
			continue
		}
		if err := v.check(v.value); err != nil {
			return fmt.Errorf("--%s %w", v.flag, err)
		}
	}
	if by != "" && f.name != "" && second.Same(by, f.name) {
		return errors.New("--by and --second name the same person; it takes two")
	}
	return nil
}

// read reads the keys that may sign, and the revoked ones.
func (f *secondFlags) read(cmd *cobra.Command) (s second.Person, err error) {
	if f.keys == "" {
		return s, nil
	}
	keys, err := readNamed(cmd, "second-key", f.keys, maxListFile)
	if err != nil {
		return s, err
	}
	var revoked []byte
	if f.revoked != "" {
		if revoked, err = readNamed(cmd, "revoked", f.revoked, maxListFile); err != nil {
			return s, err
		}
	}
	if _, err := envelope.ParseTrust(keys, revoked); err != nil {
		return s, fmt.Errorf("--second-key %s: %w", f.keys, err)
	}
	return second.Person{Keys: string(keys), Revoked: string(revoked)}, nil
}
