package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/media"
)

func mediaCommand(f *format) *cobra.Command {
	return group(&cobra.Command{
		Use: "media", Short: "Make, show and revoke sticks and images that bring a site config to a node",
		Long: `A site medium is a stick or an image with the site config of one node: signed with a key of the factory, bound to the
serial number of the machine, sealed with a passphrase or for the node's own key, and good for one use.`,
	}, mediaKeygen(), mediaWrite(), mediaShow(f), mediaRevoke())
}

// mediaReader is the process that reads a volume, which media.Inspect starts.
func mediaReader() *cobra.Command {
	return &cobra.Command{
		Use: media.ReaderCommand, Short: "Read a volume on standard input, and nothing else", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			letGo()
			return media.Serve(os.Stdin, os.NewFile(3, "order"), toProcess())
		},
	}
}

// mediaWriter is the process that adds files to a volume, which media.Known.Leave starts.
func mediaWriter() *cobra.Command {
	return &cobra.Command{
		Use: media.WriterCommand, Short: "Add files to the volume on standard input, and nothing else", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			letGo()
			return media.ServeWriter(os.Stdin, os.NewFile(3, "order"), printed(cmd))
		},
	}
}

// The limits of what is read from files that the operator names, in bytes.
const (
	maxKeyFile  = 64 << 10
	maxListFile = 1 << 20
)

// readTrust reads the public keys in the file of a flag, and the list of --revoked, if there is one.
func readTrust(cmd *cobra.Command, flag, file, list string) (*envelope.Trust, error) {
	keys, err := readNamed(cmd, flag, file, maxListFile)
	if err != nil {
		return nil, err
	}
	var revoked []byte
	if list != "" {
		if revoked, err = readNamed(cmd, "revoked", list, maxListFile); err != nil {
			return nil, err
		}
	}
	trust, err := envelope.ParseTrust(keys, revoked)
	if err != nil {
		return nil, usage(err)
	}
	return trust, nil
}

// readSecret is readNamed for a file that nobody but its owner may read.
func readSecret(cmd *cobra.Command, flag, file string) ([]byte, error) {
	if file == "-" {
		return readNamed(cmd, flag, file, maxKeyFile)
	}
	text, err := envelope.ReadSecret(file, maxKeyFile)
	if errors.Is(err, envelope.ErrOthersMayRead) {
		err = fmt.Errorf("others may read %s; run chmod 600 %s, and make a new secret if they did", file, file)
	}
	if err != nil {
		return nil, usage(fmt.Errorf("--%s: %w", flag, err))
	}
	return text, nil
}

// readSigningKey reads the key of --key.
func readSigningKey(cmd *cobra.Command, file string) (envelope.SigningKey, error) {
	if file == "" {
		return envelope.SigningKey{}, usage(errors.New("--key is missing: the private key that signs; touchdown media keygen makes one"))
	}
	text, err := readSecret(cmd, "key", file)
	if err != nil {
		return envelope.SigningKey{}, err
	}
	key, err := envelope.ParseSigningKey(text)
	if err != nil {
		return envelope.SigningKey{}, usage(fmt.Errorf("--key %s: %w", file, err))
	}
	return key, nil
}

// writeNew writes a file that is not there yet: what cannot be made again is never overwritten.
func writeNew(file string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, os.ErrExist) {
		return usage(fmt.Errorf("%s is there already; name another file", file))
	}
	if err != nil {
		return usage(err)
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(file)
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}
