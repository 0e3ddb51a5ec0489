package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/steps/site"
)

// showFlags are the flags of media show.
type showFlags struct{ trust, revoked, serial, used, secret string }

func mediaShow(o *format) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use: "show VOLUME", Short: "Show what a stick or image holds, and whether it can be trusted", Args: cobra.ExactArgs(1),
		Long: `Show reads a block device or an image without mounting it, in a process without rights, and prints what it holds:
its files, and of a signed site config for which machine it is and who signed it.

With --trust it checks the signature, with --serial whether it is for that machine, with --used whether it was used there, and
fails when it would be refused. With --secret-file, the passphrase or the private half of the node's key, it also prints the
site config that is sealed in it, without its secrets.`,
		Example: "  touchdown media show /dev/sdb\n  touchdown media show SN0042.img --trust factory.pub --serial SN0042 --secret-file passphrase.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			asJSON, err := o.json()
			if err != nil {
				return err
			}
			s, err := f.show(cmd, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd, s)
			}
			return s.print(printed(cmd))
		},
	}
	o.outputFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.trust, "trust", "", "public keys that are trusted, one behind the other in a file")
	flags.StringVar(&f.revoked, "revoked", "", "list of revoked keys")
	flags.StringVar(&f.serial, "serial", "", "serial number of the machine that is to use it")
	flags.StringVar(&f.used, "used", "", "list of the documents that the machine has used, one a line")
	flags.StringVar(&f.secret, "secret-file", "", "the passphrase, or the private half of the node's key")
	return cmd
}

// mediaContent is what media show prints; part of the contract with scripts.
type mediaContent struct {
	Volume     *volume.Content `json:"volume"`
	Document   string          `json:"document,omitempty"`
	Machine    string          `json:"machine,omitempty"`
	Unattended bool            `json:"unattended,omitempty"`
	Keep       bool            `json:"keep,omitempty"` // the medium keeps the site config after the landing
	Sealed     string          `json:"sealed,omitempty"`
	Revokes    []string        `json:"revokes,omitempty"`
	Verified   bool            `json:"verified"`
	SignedBy   string          `json:"signedBy,omitempty"`
	SiteConfig string          `json:"siteConfig,omitempty"` // without its secrets
	Valid      *bool           `json:"valid,omitempty"`      // whether the site config is
	Mistakes   []string        `json:"mistakes,omitempty"`
}

func (f *showFlags) show(cmd *cobra.Command, path string) (*mediaContent, error) {
	var trust *envelope.Trust
	var used []string
	if f.trust == "" && f.revoked != "" {
		return nil, usage(errors.New("--revoked goes with --trust"))
	}
	if f.trust != "" {
		var err error
		if trust, err = readTrust(cmd, "trust", f.trust, f.revoked); err != nil {
			return nil, err
		}
	}
	if f.used != "" {
		text, err := readNamed(cmd, "used", f.used, maxListFile)
		if err != nil {
			return nil, err
		}
		used = strings.Fields(string(text))
	}
	content, err := media.Inspect(cmd.Context(), path)
	if err != nil {
		return nil, notThere(err)
	}
	s := &mediaContent{Volume: content}
	signed := content.Find(media.EnvelopeFile)
	if plain := content.Find(media.PlainFile); signed == nil && plain != nil {
		s.judge(plain.Data, media.PlainFile)
	}
	if signed != nil {
		err = f.document(cmd, s, signed.Data, trust, used)
	}
	for i := range content.Entries { // what a file holds is for the program; the site config may have secrets
		content.Entries[i].Data = nil
	}
	return s, err
}

// document tells what a signed document says, and judges it as far as the flags ask.
func (f *showFlags) document(cmd *cobra.Command, s *mediaContent, text []byte, trust *envelope.Trust, used []string) (err error) {
	var d *envelope.Document
	if trust == nil {
		d, err = envelope.Open(text)
	} else {
		d, s.SignedBy, err = envelope.Verify(text, trust)
		s.Verified = err == nil
	}
	if err != nil {
		return err
	}
	s.Document, s.Machine, s.Unattended, s.Keep, s.Sealed, s.Revokes = d.ID, machineOf(d), d.Unattended, d.Keep, sealedWith(d), d.Revoked
	if f.serial != "" || used != nil {
		if err := d.For(f.serial, used); err != nil {
			return err
		}
	}
	if f.secret == "" && d.Sealed != envelope.NotSealed {
		return nil
	}
	var secret []byte
	if f.secret != "" {
		if secret, err = readSecret(cmd, "secret-file", f.secret); err != nil {
			return err
		}
	}
	config, err := d.Unseal(string(secret))
	if err != nil {
		return err
	}
	s.judge(config, media.EnvelopeFile)
	return nil
}

// judge adds a site config and what is wrong with it.
func (s *mediaContent) judge(text []byte, file string) {
	valid := false
	s.Valid = &valid
	cfg, err := site.Parse(text, file, nil)
	if err == nil {
		errs, _ := cfg.Validate(time.Now())
		err = errs.Err()
		if redacted, err := cfg.Marshal(true); err == nil {
			s.SiteConfig = string(redacted)
		}
	}
	if err != nil {
		s.Mistakes = strings.Split(err.Error(), "\n")
		return
	}
	valid = true
}

func (s *mediaContent) print(out io.Writer) error {
	v := s.Volume
	label := v.Label
	if label == "" {
		label = "(none)"
	}
	fmt.Fprintf(out, "volume:     %s, label %s\n", v.Kind, label)
	for _, e := range v.Entries {
		if e.Folder {
			fmt.Fprintf(out, "  %12s  %s/\n", "", e.Path)
			continue
		}
		fmt.Fprintf(out, "  %12d  %s\n", e.Size, e.Path)
	}
	if v.Skipped > 0 {
		fmt.Fprintf(out, "  %d entries left out: links, devices, names that no file can have\n", v.Skipped)
	}
	if v.More {
		fmt.Fprintf(out, "  and more than is listed\n")
	}
	if s.Document != "" {
		s.printDocument(out)
	} else {
		fmt.Fprintln(out, s.unsigned())
	}
	if s.SiteConfig != "" {
		fmt.Fprintf(out, "\n%s", s.SiteConfig)
	}
	for _, m := range s.Mistakes {
		fmt.Fprintf(out, "wrong:      %s\n", m)
	}
	return nil
}

func (s *mediaContent) printDocument(out io.Writer) {
	signed := "signature not checked: give --trust"
	if s.Verified {
		signed = "signed by trusted key " + s.SignedBy
	}
	how := "asks at the console"
	if s.Unattended {
		how = "starts without asking"
	}
	if s.Keep {
		how += "; kept after the landing"
	}
	fmt.Fprintf(out, "document:   %s\nfor:        %s\n%s\nsite config %s; %s\n", s.Document, s.Machine, signed, s.Sealed, how)
	if len(s.Revokes) > 0 {
		fmt.Fprintf(out, "revokes:    %s\n", strings.Join(s.Revokes, ", "))
	}
}

// unsigned tells what a volume without a signed document has for a node.
func (s *mediaContent) unsigned() string {
	switch {
	case s.Volume.Find(media.PlainFile) != nil:
		return "site config without a signature: a node takes no answers from it; touchdown media write makes a signed one"
	case s.Volume.Find(media.AgentManifest) != nil:
		return "lifecycle-agent's SeedReconfiguration, without a signature: touchdown site import --from seed-reconfiguration reads it"
	}
	return "no site config: there is neither " + media.EnvelopeFile + " nor " + media.PlainFile
}
