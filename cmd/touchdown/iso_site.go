package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/media"
	"touchdown/backend/media/iso"
	"touchdown/steps/site"
)

// isoSiteFlags are those of iso embed for the answers of the site that the installed node takes along.
type isoSiteFlags struct {
	file, serial, passphraseFile string
	unattended                   bool
	document                     *envelope.Document // that files made; nil for none
}

func (f *isoSiteFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "site", "", "site config that the installed node takes along, as with touchdown factory --site")
	flags.StringVar(&f.serial, "site-serial", "", "serial number of the one machine that uses that site config, as its firmware tells it")
	flags.BoolVar(&f.unattended, "site-unattended", false, "the node starts with that site config without a person, from the first boot after its seal")
	flags.StringVar(&f.passphraseFile, "site-passphrase-file", "", "seal the site config with the passphrase in this file, which a person types at the site")
}

// check refuses flags that contradict each other.
func (f *isoSiteFlags) check(cmd *cobra.Command, installs bool) error {
	if f.file == "" {
		for _, name := range []string{"serial", "unattended", "passphrase-file"} {
			if cmd.Flags().Changed("site-" + name) {
				return usage(fmt.Errorf("--site-%s goes with --site", name))
			}
		}
		return nil
	}
	switch {
	case !installs:
		return usage(errors.New("--site goes with --install-ignition and --install-disk: a live system that installs nothing has forgotten the site config after its reboot"))
	case f.serial == "":
		return usage(errors.New("--site needs --site-serial: no other machine may use that site config"))
	case f.unattended && f.passphraseFile != "":
		return usage(errors.New("--site-unattended and --site-passphrase-file exclude each other: nobody is there to type a passphrase"))
	}
	if err := envelope.CheckSerial(f.serial); err != nil {
		return usage(fmt.Errorf("--site-serial %q: %w", f.serial, err))
	}
	return nil
}

// files are what the installed node gets; nil where no site config is named.
func (f *isoSiteFlags) files(cmd *cobra.Command) (map[string][]byte, error) {
	if f.file == "" {
		return nil, nil
	}
	cfg, err := loadSite(cmd, f.file)
	if err != nil {
		return nil, err
	}
	in := media.Installed{Serial: f.serial, Unattended: f.unattended}
	if in.Config, err = cfg.Marshal(false); err != nil {
		return nil, err
	}
	if f.passphraseFile != "" {
		text, err := readSecret(cmd, "site-passphrase-file", f.passphraseFile)
		if err != nil {
			return nil, err
		}
		in.Passphrase = strings.TrimSpace(string(text))
		if _, err := envelope.PassphraseLock(in.Passphrase); err != nil {
			return nil, usage(fmt.Errorf("--site-passphrase-file %s: %w", f.passphraseFile, err))
		}
	}
	var files map[string][]byte
	f.document, files, err = in.Files()
	return files, err
}

// tell says what a person has to know of the site config that is in the image now.
func (f *isoSiteFlags) tell(out io.Writer) {
	d := f.document
	if d == nil {
		return
	}
	fmt.Fprintf(out, "%s: document %s is in the image, for serial number %s alone, %s\n", f.file, d.ID, d.Serial, siteSeal(d))
	if d.Sealed != envelope.WithPassphrase {
		fmt.Fprintln(out, "whoever has the image can open it: keep the image as you keep the secrets in the site config")
	}
	if d.Unattended {
		fmt.Fprintln(out, "once it is sealed, the node's next boot STARTS THE LANDING WITHOUT A PERSON; do not boot it before it is at its site")
	}
}

// siteSeal tells what opens the site config in an image.
func siteSeal(d *envelope.Document) string {
	if d.Sealed == envelope.WithPassphrase {
		return "sealed with a passphrase"
	}
	return "sealed for a key that lies beside it"
}

// isoSite is the site config in an image, as iso show prints it.
type isoSite struct {
	Document   string           `json:"document"`
	Serial     string           `json:"serial"`
	Unattended bool             `json:"unattended"`
	Sealed     envelope.Sealing `json:"sealed"`
	Config     string           `json:"config,omitempty"` // YAML with secrets as <set>; "" where it opens with a passphrase
	how        string
}

// readISOSite finds the site config in the config of a live system; nil where there is none.
func readISOSite(config []byte, secrets bool) (*isoSite, error) {
	files, err := iso.InstalledFiles(config)
	if err != nil || files == nil {
		return nil, err
	}
	d, text, err := media.ReadInstalled(func(path string) []byte { return files[path] })
	if err != nil || d == nil {
		return nil, err
	}
	s := &isoSite{Document: d.ID, Serial: d.Serial, Unattended: d.Unattended, Sealed: d.Sealed, how: siteSeal(d)}
	if text == nil {
		return s, nil
	}
	cfg, err := site.Parse(text, "the site config in the image", nil)
	if err == nil {
		text, err = cfg.Marshal(!secrets)
	}
	if err != nil {
		return nil, media.DamagedInstalled(err)
	}
	s.Config = string(text)
	return s, nil
}

func (s *isoSite) print(out io.Writer) {
	if s == nil {
		return
	}
	starts := "a person starts the landing"
	if s.Unattended {
		starts = "THE LANDING STARTS WITHOUT A PERSON, once the node is sealed"
	}
	fmt.Fprintf(out, "  site      document %s for serial number %s, %s; %s\n", s.Document, s.Serial, s.how, starts)
	for line := range strings.Lines(s.Config) {
		fmt.Fprint(out, "    "+line)
	}
}
