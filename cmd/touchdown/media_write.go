package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"touchdown/backend/envelope"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/backend/update"
	"touchdown/steps/site"
)

// mediaFlags are the flags of media write.
type mediaFlags struct {
	file, serial, key, format, revoked       string
	serials                                  string
	passphraseFile, newPassphrase, recipient string
	table, out, release                      string
	anySerial, unattended, keep              bool
	force, fixedDisk                         bool
}

func mediaWrite() *cobra.Command {
	var f mediaFlags
	cmd := &cobra.Command{
		Use: "write [TARGET]", Short: "Write the site config of a node onto a stick, or into an image", Args: cobra.MaximumNArgs(1),
		Long: `Write checks a site config as touchdown site validate does, binds it to the serial number of one machine, signs it, seals
it, and writes it to TARGET: a block device, which gets a FAT file system (all of it is lost), or a new file. The files that
the site config names go in with it. A device that is neither removable nor on USB is refused without --fixed-disk.

A medium is sealed with a passphrase, which someone types at the console, or for the key of a node, which needs nobody. Only a
site config without secrets may go unsealed.

After the landing the node overwrites the site config on a stick with FAT. It stays there with --keep, on a medium for any
machine (--any-serial), which others need, and on an ISO9660 image.

With --release the medium brings no site config but the release of Touchdown in a folder: program, check sums and signature. It is
always an ISO9660 image; a stick with FAT onto which these three files were copied will do as well. A node takes it with
touchdown update --from-stick, when it trusts the key that signed the release; keys for media have no part in it.

With --unattended, too, it has an order (` + update.OrderFile + `): each node that has one of the serial numbers of --serial and --serials, and
an older release, installs it with nobody there, once, after a countdown that any key stops, also when it has landed. --key signs
the order: it is the key that signed the release.

With --table it makes many, one file for each line, in the folder --out. The table is CSV in UTF-8, with commas or, all over, with
semicolons: the first line names the columns, of which "serial" must be there, "recipient" may be, and all others are paths of
the site config such as spec.hostname; an empty cell leaves the value of -f. Without a recipient a line gets its own passphrase,
in OUT/passphrases.csv, which --force overwrites only if all its machines are in the table. --table can also be a folder of site
configs, SERIAL.yaml each.
What is wrong is told by file or line, the first twenty mistakes of it, and nothing is written then; all warnings are printed.`,
		Example: `  touchdown media write -f site.yaml --serial SN0042 --key factory.key --new-passphrase passphrase.txt /dev/sdb
  touchdown media write -f site.yaml --serial SN0042 --key factory.key --recipient age1... --unattended SN0042.img
  touchdown media write -f common.yaml --table sites.csv --key factory.key --format iso9660 --out media
  touchdown media write --release .cache/release /dev/sdb
  touchdown media write --release .cache/release --unattended --serials site7.txt --key release.key /dev/sdb`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			if len(args) > 0 {
				if err := notItsOwn(args[0], f.file, f.key, f.passphraseFile, f.newPassphrase, f.revoked, f.serials); err != nil {
					return err
				}
			}
			switch {
			case f.release != "":
				said, err := f.writeRelease(cmd, args[0])
				fmt.Fprint(printed(cmd), said)
				return err
			case f.table != "":
				return f.writeTable(cmd)
			}
			return f.writeOne(cmd, args[0])
		},
	}
	f.add(cmd)
	return cmd
}

func (f *mediaFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "file", "f", "", "the site config; with --table what all have in common")
	flags.StringVar(&f.serial, "serial", "", "serial number of the machine that it is for, as its firmware tells it")
	flags.BoolVar(&f.anySerial, "any-serial", false, "it is for any machine, with a person at the console")
	flags.StringVar(&f.key, "key", "", "the private key that signs")
	flags.StringVar(&f.passphraseFile, "passphrase-file", "", "seal with the passphrase in this file")
	flags.StringVar(&f.newPassphrase, "new-passphrase", "", "seal with a new passphrase, which is written to this file")
	flags.StringVar(&f.recipient, "recipient", "", "seal for the node with this public key, age1...")
	flags.StringVar(&f.serials, "serials", "", "with --release --unattended: file with serial numbers of machines that it is for, one a line")
	flags.BoolVar(&f.unattended, "unattended", false, "the node starts without asking anyone")
	flags.BoolVar(&f.keep, "keep", false, "the medium keeps the site config; without it the node overwrites it after its landing")
	flags.StringVar(&f.revoked, "revoked", "", "list of revoked signing keys that the medium brings to the node; --key must not be on it")
	flags.StringVar(&f.format, "format", volume.FAT, strings.Join(media.Formats(), " or "))
	flags.BoolVar(&f.force, "force", false, "overwrite what TARGET holds")
	flags.BoolVar(&f.fixedDisk, "fixed-disk", false, "TARGET may be a disk that is neither removable nor on USB")
	flags.StringVar(&f.release, "release", "", "write the release in this folder, as make release KEY=FILE makes it, and no site config")
	flags.StringVar(&f.table, "table", "", "make many: a CSV file, or a folder of site configs")
	flags.StringVar(&f.out, "out", "", "with --table: the folder for the images, which is made")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(media.Formats(), cobra.ShellCompDirectiveNoFileComp))
}

// check refuses flags that contradict each other.
func (f *mediaFlags) check(cmd *cobra.Command, args []string) error {
	if f.release != "" {
		return f.checkRelease(cmd, args)
	}
	one := f.serial != "" || f.anySerial || f.passphraseFile != "" || f.newPassphrase != "" || f.recipient != "" || f.fixedDisk
	seals := 0
	for _, s := range []string{f.passphraseFile, f.newPassphrase, f.recipient} {
		if s != "" {
			seals++
		}
	}
	switch {
	case f.table != "" && (one || len(args) > 0):
		return usage(errors.New("--table tells the serial numbers and seals, and --out the folder: leave out TARGET and the flags for a single medium"))
	case f.serials != "":
		return usage(errors.New("--serials goes with --release; a site config is for one machine (--serial)"))
	case f.table != "" && f.out == "":
		return usage(errors.New("--out is missing: the folder for the images of --table"))
	case f.table != "":
		return nil
	case f.out != "":
		return usage(errors.New("--out goes with --table; for one medium name TARGET"))
	case len(args) == 0:
		return usage(errors.New("TARGET is missing: a block device such as /dev/sdb, or a file"))
	case f.file == "":
		return usage(errors.New("-f is missing: the site config"))
	case f.anySerial == (f.serial != ""):
		return usage(errors.New("give either --serial, the machine that the medium is for, or --any-serial"))
	case seals > 1:
		return usage(errors.New("--passphrase-file, --new-passphrase, --recipient: give one"))
	case f.unattended && f.recipient == "":
		return usage(errors.New("--unattended needs --recipient: nobody is there to type a passphrase"))
	case f.unattended && f.anySerial:
		return usage(errors.New("--unattended needs --serial: such a medium must not start on another machine"))
	}
	return nil
}

// checkRelease refuses flags that have no part in a release: a key of media above all.
func (f *mediaFlags) checkRelease(cmd *cobra.Command, args []string) error {
	takes := []string{"release", "force", "fixed-disk", "unattended"}
	if f.unattended {
		takes = append(takes, "key", "serial", "serials")
	}
	wrong := f.checkOrder()
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(takes, flag.Name) && cmd.LocalNonPersistentFlags().Lookup(flag.Name) != nil {
			wrong = usage(fmt.Errorf("--%s has no part in a release, which `make release KEY=FILE` signs; --release takes only --force and --fixed-disk, and for an order --unattended with --serial, --serials and --key", flag.Name))
		}
	})
	if wrong == nil && len(args) == 0 {
		wrong = usage(errors.New("TARGET is missing: a block device such as /dev/sdb, or a file"))
	}
	return wrong
}

func (f *mediaFlags) writeOne(cmd *cobra.Command, target string) error {
	cfg, err := loadSite(cmd, f.file)
	if err != nil {
		return err
	}
	m, err := f.maker(cmd)
	if err != nil {
		return err
	}
	lock, passphrase, err := f.lock(cmd)
	if err != nil {
		return err
	}
	d, image, err := m.make(f.serial, cfg, lock)
	if err != nil {
		return err
	}
	if passphrase != "" {
		if err := writeNew(f.newPassphrase, []byte(passphrase+"\n"), 0o600); err != nil {
			return err
		}
	}
	if err := media.WriteTo(target, image, media.Allow{Content: f.force, FixedDisk: f.fixedDisk}); err != nil {
		if passphrase != "" {
			_ = os.Remove(f.newPassphrase) // it opens nothing
		}
		return err
	}
	if f.anySerial {
		fmt.Fprintln(complaints(cmd), "warning: the site config stays on the medium, for the next machine; erase it after the last one")
	}
	fmt.Fprintf(printed(cmd), "%s: document %s for %s, signed with key %s, %s\n", target, d.ID, machineOf(d), m.key.ID(), sealedWith(d))
	return nil
}

// lock is what the flags ask the site config to be sealed with, and the passphrase when it is a new one.
func (f *mediaFlags) lock(cmd *cobra.Command) (envelope.Lock, string, error) {
	var lock envelope.Lock
	var err error
	switch {
	case f.newPassphrase != "":
		return envelope.GeneratedLock()
	case f.passphraseFile != "":
		var text []byte
		if text, err = readSecret(cmd, "passphrase-file", f.passphraseFile); err == nil {
			lock, err = envelope.PassphraseLock(strings.TrimSpace(string(text)))
		}
	case f.recipient != "":
		lock, err = envelope.NodeLock(f.recipient)
	}
	if err != nil {
		return lock, "", usage(err)
	}
	return lock, "", nil
}

// maker makes media: what all of a batch have in common.
type maker struct {
	key              envelope.SigningKey
	format           string
	unattended, keep bool
	revoked          []string
}

func (f *mediaFlags) maker(cmd *cobra.Command) (*maker, error) {
	key, err := readSigningKey(cmd, f.key)
	if err != nil {
		return nil, err
	}
	m := &maker{key: key, format: f.format, unattended: f.unattended, keep: f.keep}
	if f.revoked == "" {
		return m, nil
	}
	text, err := readNamed(cmd, "revoked", f.revoked, maxListFile)
	if err != nil {
		return nil, err
	}
	if m.revoked, err = envelope.ParseRevoked(text); err != nil {
		return nil, usage(fmt.Errorf("--revoked %s: %w", f.revoked, err))
	}
	if slices.Contains(m.revoked, key.ID()) { // the node would refuse its own medium
		return nil, usage(fmt.Errorf("--key: %s is on the list of --revoked; sign with another key", key.ID()))
	}
	return m, nil
}

// make makes the medium of a site config that was found valid.
func (m *maker) make(serial string, cfg *site.Config, lock envelope.Lock) (*envelope.Document, *volume.Image, error) {
	if serial != "" {
		if err := envelope.CheckSerial(serial); err != nil {
			return nil, nil, usage(fmt.Errorf("--serial %q: %w", serial, err))
		}
	}
	text, err := cfg.Marshal(false)
	if err != nil {
		return nil, nil, err
	}
	d := envelope.New(serial)
	d.Unattended, d.Keep, d.Revoked = m.unattended, m.keep, m.revoked
	if err := d.Seal(text, lock); err != nil {
		return nil, nil, err
	}
	if d.Sealed == envelope.NotSealed && len(cfg.SecretTexts()) > 0 {
		return nil, nil, usage(errors.New("the site config has secrets, and whoever finds the medium could read them; seal it with --new-passphrase, --passphrase-file or --recipient"))
	}
	signed, err := envelope.Sign(d, m.key)
	if err != nil {
		return nil, nil, err
	}
	image, err := media.Make(m.format, &d, signed)
	if err != nil {
		return nil, nil, usage(err)
	}
	return &d, image, nil
}

func machineOf(d *envelope.Document) string {
	if d.AnySerial {
		return "any machine"
	}
	return "serial number " + d.Serial
}

func sealedWith(d *envelope.Document) string {
	switch d.Sealed {
	case envelope.WithPassphrase:
		return "sealed with a passphrase"
	case envelope.ForNode:
		return "sealed for the node's own key"
	}
	return "not sealed"
}
