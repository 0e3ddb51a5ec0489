package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"touchdown/backend/media/iso"
)

// installFlags are those of iso embed for a live system that installs.
type installFlags struct {
	ignition string
	with     iso.Install
	site     isoSiteFlags
}

func (f *installFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.ignition, "install-ignition", "", "install the machine that boots the image: file with the Ignition config of the installed system")
	flags.StringVar(&f.with.Disk, "install-disk", "", "disk to install: serial:NUMBER, wwn:NUMBER, /dev/disk/by-id/NAME, or only (the only disk that is built in and large enough)")
	flags.StringVar(&f.with.Overwrite, "install-overwrite", "", "serial number of a disk to install even if it is not empty; everything on it is lost")
	flags.IntVar(&f.with.LeastGB, "install-least-gb", iso.LeastDiskGB, "smallest disk that is installed, in GB (1 GB = 10^9 bytes)")
	flags.BoolVar(&f.with.CopyNetwork, "install-copy-network", false, "give the installed system the network keyfiles of the live system")
	flags.StringArrayVar(&f.with.Kargs.Append, "install-karg-append", nil, "kernel argument to add to the installed system; may be repeated")
	flags.StringArrayVar(&f.with.Kargs.Delete, "install-karg-delete", nil, "kernel argument to remove from the installed system; may be repeated")
	flags.StringVar(&f.with.Program, "install-program", "", "URL from which the live system downloads touchdown, to check the hardware before it installs")
	flags.StringVar(&f.with.ProgramHash, "install-program-hash", "", "hash of that program: sha512- and its SHA-512 sum")
	f.site.add(cmd)
	cmd.MarkFlagsRequiredTogether("install-ignition", "install-disk")
	cmd.MarkFlagsRequiredTogether("install-program", "install-program-hash")
}

// addTo returns the config of the live system, with the installation where one is asked for.
func (f *installFlags) addTo(cmd *cobra.Command, live []byte) ([]byte, error) {
	if err := f.site.check(cmd, f.ignition != ""); err != nil {
		return nil, err
	}
	if f.ignition == "" {
		for _, name := range []string{"overwrite", "least-gb", "copy-network", "karg-append", "karg-delete", "program"} {
			if cmd.Flags().Changed("install-" + name) {
				return nil, usage(fmt.Errorf("--install-%s goes with --install-ignition and --install-disk", name))
			}
		}
		return live, nil
	}
	var err error
	if f.with.Ignition, err = readNamed(cmd, "install-ignition", f.ignition, maxConfigFile); err != nil {
		return nil, err
	}
	if err := f.with.Check(); err != nil {
		return nil, usage(err)
	}
	if f.with.Lay, err = f.site.files(cmd); err != nil {
		return nil, err
	}
	f.with.Machine = f.site.serial
	return f.with.AddTo(live)
}

func printInstallation(out io.Writer, i *iso.Installation) {
	if i == nil {
		return
	}
	where := "the disk " + cmp.Or(i.Disk, "that its settings name, which cannot be read")
	if i.Disk == iso.DiskOnly {
		where = "the only disk that is built in"
	}
	if i.LeastGB > 0 {
		where += fmt.Sprintf(", of at least %d GB", i.LeastGB)
	}
	fmt.Fprintf(out, "  installs  %s\n", where)
	if i.Overwrite != "" {
		fmt.Fprintf(out, "  OVERWRITES the disk with serial number %s, whatever is on it\n", i.Overwrite)
	}
	if i.Machine != "" {
		fmt.Fprintf(out, "  only on   the machine with serial number %s\n", i.Machine)
	}
	fmt.Fprintf(out, "  medium    %s\n", cmp.Or(i.Medium, "unknown"))
}
