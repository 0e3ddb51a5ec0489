package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"touchdown/backend/media/iso"
)

func isoCommand(c *format) *cobra.Command {
	return group(&cobra.Command{
		Use: "iso", Short: "Put an Ignition config, network settings and kernel arguments into a live image",
		Long: `An installation medium is the live ISO of RHCOS or Fedora CoreOS with an Ignition config in it. The image has areas
for it; nothing else in it changes. Images of every kind since September 2020 can be filled.`,
	}, isoEmbed(), isoShow(c))
}

// maxConfigFile is the largest Ignition config that is read, in bytes. Chosen: 8 times the area of the images so far.
const maxConfigFile = 2 << 20

// embedFlags are the flags of iso embed.
type embedFlags struct {
	ignition, out  string
	keyfiles       []string
	kargs          iso.Edits
	inPlace, force bool
	install        installFlags
}

func isoEmbed() *cobra.Command {
	var f embedFlags
	cmd := &cobra.Command{
		Use: "embed IMAGE (--out FILE | --in-place)", Short: "Fill a live image", Args: cobra.ExactArgs(1),
		Long: `Embed checks what goes in, and makes a filled copy of the image (--out), or fills the image itself (--in-place); only its owner may
read it then. If the power fails in the middle of it, iso show tells that the image is half written.

The Ignition config is that of the live system. What it fetches without TLS has to have a verification.hash. Network keyfiles are those of
NetworkManager. Kernel arguments start from those that the image came with.

With --install-ignition and --install-disk the live system installs the machine: it inspects the disks, writes the chosen one with
coreos-installer and reboots. A disk with anything on it is left alone, unless --install-overwrite has its serial number. A medium installs
a disk only once. The file that --install-ignition names is a secret, and so is the filled image.

With --site the installed node has the answers of its site, as after touchdown factory --site FILE: for the machine with --site-serial alone,
good for one use, used by a node that was sealed and not before. They are checked as touchdown site validate does.

An image that is filled already is left alone. With --force everything that is embedded is replaced, what is not named here is removed.
A check of the image's MD5 sum (checkisomd5) fails afterwards, as after coreos-installer iso customize.`,
		Example: `  touchdown iso embed rhcos-live.iso --out store0042.iso --ignition live.ign --network-keyfile eno1.nmconnection
  touchdown iso embed rhcos-live.iso --out store0042.iso --install-ignition store0042.ign --install-disk serial:S4EWNX0R123456
  touchdown iso embed rhcos-live.iso --out store0042.iso --install-ignition store0042.ign --install-disk only --site site.yaml --site-serial SN0042
  butane --raw live.bu | touchdown iso embed rhcos-live.iso --out store0042.iso --ignition - --karg-append console=ttyS0,115200n8`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.embed(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.ignition, "ignition", "", "file with the Ignition config of the live system; - reads standard input")
	flags.StringArrayVar(&f.keyfiles, "network-keyfile", nil, "file NAME.nmconnection; may be repeated")
	flags.StringArrayVar(&f.kargs.Append, "karg-append", nil, "kernel argument to add; may be repeated")
	flags.StringArrayVar(&f.kargs.Delete, "karg-delete", nil, "kernel argument to remove; may be repeated")
	flags.StringArrayVar(&f.kargs.Replace, "karg-replace", nil, "KEY=OLD=NEW; may be repeated")
	f.install.add(cmd)
	flags.StringVar(&f.out, "out", "", "the filled image, a new file")
	flags.BoolVar(&f.inPlace, "in-place", false, "fill the image itself")
	flags.BoolVar(&f.force, "force", false, "replace all that is embedded")
	cmd.MarkFlagsMutuallyExclusive("out", "in-place")
	cmd.MarkFlagsOneRequired("out", "in-place")
	return cmd
}

func (f *embedFlags) embed(cmd *cobra.Command, name string) error {
	content, err := f.content(cmd)
	if err != nil {
		return err
	}
	out, err := f.write(cmd.Context(), name, content)
	if err != nil {
		return err
	}
	f.install.site.tell(complaints(cmd))
	filled, err := showImage(out, false)
	if err != nil {
		return err
	}
	fmt.Fprintf(printed(cmd), "%s: %d of %d bytes used, files: %d\n", out, filled.Ignition.Used, filled.Ignition.Length, len(filled.Files))
	return nil
}

// write fills the image or a copy of it, and returns the name of what it filled.
func (f *embedFlags) write(ctx context.Context, name string, content iso.Content) (out string, err error) {
	file, image, err := iso.Open(name, f.inPlace)
	if err != nil {
		return "", notThere(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	filling, err := image.Fill(content, f.force)
	if err != nil {
		return "", err
	}
	if f.inPlace {
		return name, filling.WriteInPlace(file)
	}
	return f.out, filling.WriteCopy(ctx, file, f.out)
}

// content reads what the flags name.
func (f *embedFlags) content(cmd *cobra.Command) (iso.Content, error) {
	c := iso.Content{Kargs: f.kargs}
	if f.ignition == "" && f.install.ignition == "" && f.install.site.file == "" && len(f.keyfiles)+len(f.kargs.Append)+len(f.kargs.Delete)+len(f.kargs.Replace) == 0 {
		return c, usage(errors.New("nothing to embed: give --ignition, --install-ignition, --network-keyfile or --karg-append"))
	}
	var err error
	if f.ignition != "" {
		if c.Ignition, err = readNamed(cmd, "ignition", f.ignition, maxConfigFile); err != nil {
			return c, err
		}
		if err := iso.CheckConfig(c.Ignition); err != nil {
			return c, err
		}
	}
	if c.Ignition, err = f.install.addTo(cmd, c.Ignition); err != nil {
		return c, err
	}
	for _, name := range f.keyfiles {
		data, err := readNamed(cmd, "network-keyfile", name, maxKeyFile)
		if err != nil {
			return c, err
		}
		c.Keyfiles = append(c.Keyfiles, iso.File{Path: filepath.Base(name), Data: data})
	}
	return c, nil
}

// isoFile is an embedded file, as iso show prints it.
type isoFile struct {
	Path string `json:"path"`
	Size int    `json:"size"`           // bytes
	Text string `json:"text,omitempty"` // with --with-secrets
}

// isoContent is what iso show prints; part of the contract with scripts.
type isoContent struct {
	*iso.Image
	Files  []isoFile   `json:"files"`
	Config *iso.Config `json:"config,omitempty"` // what the Ignition config does
	Site   *isoSite    `json:"site,omitempty"`   // that the installed node takes along
}

func isoShow(c *format) *cobra.Command {
	var secrets bool
	cmd := &cobra.Command{
		Use: "show IMAGE", Short: "Show what is embedded in a live image", Args: cobra.ExactArgs(1),
		Example: "  touchdown iso show store0042.iso\n  touchdown iso show store0042.iso -o json | jq -r .kargs.args",
		Long: `Show reads the areas of a live image, and prints where they lie, how full they are, and what is in them: the kernel arguments, the
names of the network keyfiles, what the Ignition config does, and the site config with its secrets as <set>. Contents of files, passwords, keys
and the credentials in URLs are left out; --with-secrets prints config, site config, keyfiles and kernel arguments whole.

It fails when the areas are half written, when the Ignition config is not valid, or when the node could not use the site config.`,
		RunE: func(cmd *cobra.Command, args []string) error { return showISO(cmd, c, args[0], secrets) },
	}
	c.outputFlag(cmd)
	cmd.Flags().BoolVar(&secrets, "with-secrets", false, "print Ignition config, site config, keyfiles and kernel arguments whole")
	return cmd
}

func showISO(cmd *cobra.Command, c *format, name string, secrets bool) error {
	asJSON, err := c.json()
	if err != nil {
		return err
	}
	s, wrong := showImage(name, secrets)
	if s == nil {
		return wrong
	}
	if asJSON {
		err = printJSON(cmd, s)
	} else {
		s.print(printed(cmd))
	}
	return errors.Join(err, wrong)
}

// showImage reads an image. It may return both what is in it and what is wrong with that.
func showImage(name string, secrets bool) (s *isoContent, err error) {
	file, image, err := iso.Open(name, false)
	if err != nil {
		return nil, notThere(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s = &isoContent{Image: image, Files: []isoFile{}}
	for _, f := range image.Files {
		shown := isoFile{Path: f.Path, Size: len(f.Data)}
		if secrets {
			shown.Text = string(f.Data)
		}
		s.Files = append(s.Files, shown)
	}
	if k := image.Kargs; k != nil && !secrets {
		k.Args, k.Default = iso.ShownArgs(k.Args), iso.ShownArgs(k.Default)
	}
	if text := image.Config(); text != nil {
		if s.Config, err = iso.ReadConfig(text); err == nil {
			s.Site, err = readISOSite(text, secrets)
		}
	}
	return s, errors.Join(image.Whole(), err)
}

func (s *isoContent) print(out io.Writer) {
	by := map[string]string{iso.ByHeader: "a header of 2020 or 2021", iso.ByName: "its name", iso.ByInfo: "coreos/igninfo.json"}[s.Generation]
	fmt.Fprintf(out, "image:      %s\nignition:   %d of %d bytes used, at %d, in %s, found by %s\n", s.Label, s.Ignition.Used, s.Ignition.Length, s.Ignition.Offset, s.Ignition.File, by)
	if !s.Keyfiles {
		fmt.Fprintln(out, "keyfiles:   the live system reads none")
	}
	for _, f := range s.Files {
		fmt.Fprintf(out, "  %8d  %s\n", f.Size, f.Path)
	}
	if s.Config != nil {
		s.printConfig(out)
	}
	if k := s.Kargs; k != nil {
		fmt.Fprintf(out, "kernel:     %s\ndefault:    %s\n", k.Args, k.Default)
		for _, a := range k.Areas {
			fmt.Fprintf(out, "  %d of %d bytes used, at %d, in %s\n", a.Used, a.Length, a.Offset, a.File)
		}
	} else {
		fmt.Fprintln(out, "kernel:     the image has no area for kernel arguments")
	}
	for _, f := range s.Files {
		if f.Text != "" {
			fmt.Fprintf(out, "\n%s:\n%s\n", f.Path, f.Text)
		}
	}
}

func (s *isoContent) printConfig(out io.Writer) {
	fmt.Fprintf(out, "config:     Ignition %s\n", s.Config.Version)
	printInstallation(out, s.Config.Install)
	s.Site.print(out)
	for _, source := range s.Config.Sources {
		fmt.Fprintf(out, "  merges    %s\n", source)
	}
	for _, f := range s.Config.Files {
		fmt.Fprintf(out, "  file      %s %s %s %s\n", f.Path, f.Mode, f.Source, f.Hash)
	}
	for _, u := range s.Config.Units {
		fmt.Fprintf(out, "  unit      %s, enabled: %t\n", u.Name, u.Enabled)
	}
	for _, u := range s.Config.Users {
		fmt.Fprintf(out, "  user      %s\n", u)
	}
}
