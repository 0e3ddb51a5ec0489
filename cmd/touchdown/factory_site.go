package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"touchdown/backend/host"
	"touchdown/backend/media"
)

// keepSite puts the answers of its site into the node; nil: none were named.
func (f *factoryFlags) keepSite(cmd *cobra.Command, machine *host.Machine, answers []byte) error {
	if answers == nil {
		return f.takeSiteBack(cmd, machine)
	}
	d, err := media.Of(machine).Bake(answers, f.startsAlone)
	if err != nil {
		return err
	}
	fmt.Fprintf(complaints(cmd), "%s: document %s is in the node, for serial number %s alone\n", f.site, d.ID, d.Serial)
	if d.Unattended {
		fmt.Fprintln(complaints(cmd), "once it is sealed, the node's next boot STARTS THE LANDING WITHOUT A PERSON; do not boot it before it is at its site")
	}
	return nil
}

// takeSiteBack wipes the site config of an earlier stay when a sealed node comes back: whoever takes it back may send it elsewhere.
func (f *factoryFlags) takeSiteBack(cmd *cobra.Command, machine *host.Machine) error {
	if !f.reopen {
		return nil
	}
	was, err := media.Of(machine).TakeBack()
	if was && err == nil {
		fmt.Fprintln(complaints(cmd), "the site config that was in the node is wiped; --site FILE puts one in again")
	}
	return err
}

// siteAnswers reads the site config that goes with the node; nil where none is named.
func (f *factoryFlags) siteAnswers(cmd *cobra.Command) ([]byte, error) {
	if f.site == "" {
		return nil, nil
	}
	cfg, err := loadSite(cmd, f.site)
	if err != nil {
		return nil, err
	}
	return cfg.Marshal(false)
}
