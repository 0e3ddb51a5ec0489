package iso

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/coreos/ignition/v2/config/util"
	ignition "github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/ignition/v2/config/v3_5/types"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Config is what an Ignition config does, without the contents of its files and the credentials in its URLs.
type Config struct {
	Version string        `json:"version"`           // of the specification
	Sources []string      `json:"sources,omitempty"` // other configs that it merges, or is replaced by
	Files   []ConfigFile  `json:"files,omitempty"`
	Units   []ConfigUnit  `json:"units,omitempty"`
	Users   []string      `json:"users,omitempty"`
	Install *Installation `json:"install,omitempty"` // nil for a config that installs nothing
}

// ConfigFile is a file that Ignition writes.
type ConfigFile struct {
	Path   string `json:"path"`
	Mode   string `json:"mode,omitempty"`   // octal
	Source string `json:"source,omitempty"` // "inline", or a URL without credentials; "" for an empty file
	Hash   string `json:"hash,omitempty"`   // verification.hash
}

// ConfigUnit is a systemd unit that Ignition writes or enables.
type ConfigUnit struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
}

// CheckConfig refuses a config that is not to be embedded: one that ReadConfig does not read, and one that fetches something without TLS
// and without a hash. Ignition would lay down as root what anyone on the way can change.
func CheckConfig(text []byte) error {
	c, err := parse(text)
	if err != nil {
		return err
	}
	return unhashed(c)
}

// ReadConfig tells what a config does.
func ReadConfig(text []byte) (*Config, error) {
	c, err := parse(text)
	if err != nil {
		return nil, err
	}
	made := configOf(c)
	made.Version = version(text)
	return made, nil
}

// parse has Ignition's own library judge a config of any version of the specification up to 3.5.0.
func parse(text []byte) (types.Config, error) {
	c, report, err := ignition.ParseCompatibleVersion(text)
	if err != nil || report.IsFatal() {
		err = errors.Join(err, errors.New(report.String()))
	}
	if err != nil {
		err = errors.New(unquoted(err.Error()))
		return c, &problem.Problem{
			Code: "LVE-GNTN", Summary: message.T("The Ignition config is not valid."),
			Fix: message.T("Make it with Butane, variant fcos or openshift with --raw, for a specification up to 3.5.0."), Err: err,
		}
	}
	return c, nil
}

// unquoted leaves out what the library quotes of a config, such as a line of a unit: it may be a secret. Line and column stay.
func unquoted(report string) string {
	var lines []string
	for line := range strings.Lines(report) {
		before, _, cut := strings.Cut(strings.TrimSpace(line), `"`)
		if cut {
			before += "..."
		}
		if before != "" {
			lines = append(lines, before)
		}
	}
	return strings.Join(lines, "; ")
}

// version is what the text says; the library makes every config one of its newest version.
func version(text []byte) string {
	v, _, err := util.GetConfigVersion(text)
	if err != nil {
		return ""
	}
	return v.String()
}

func configOf(c types.Config) *Config {
	made := &Config{Install: installation(c)}
	if s := c.Ignition.Config.Replace.Source; s != nil {
		made.Sources = append(made.Sources, source(s))
	}
	for _, m := range c.Ignition.Config.Merge {
		made.Sources = append(made.Sources, source(m.Source))
	}
	for _, f := range c.Storage.Files {
		file := ConfigFile{Path: f.Path, Source: source(f.Contents.Source)}
		if f.Mode != nil {
			file.Mode = fmt.Sprintf("%04o", *f.Mode)
		}
		if f.Contents.Verification.Hash != nil {
			file.Hash = *f.Contents.Verification.Hash
		}
		made.Files = append(made.Files, file)
	}
	for _, u := range c.Systemd.Units {
		made.Units = append(made.Units, ConfigUnit{u.Name, util.IsTrue(u.Enabled)})
	}
	for _, u := range c.Passwd.Users {
		made.Users = append(made.Users, u.Name)
	}
	return made
}

// source is a URL without what may be secret.
func source(text *string) string {
	if text == nil || *text == "" {
		return ""
	}
	u, err := url.Parse(*text)
	switch {
	case err != nil:
		return "(not a URL)"
	case u.Scheme == "data":
		return "inline"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// unhashed finds what is fetched without TLS and without a hash.
func unhashed(c types.Config) error {
	open := func(r types.Resource) bool {
		if r.Source == nil || !util.NilOrEmpty(r.Verification.Hash) {
			return false
		}
		u, err := url.Parse(*r.Source)
		return err == nil && (u.Scheme == "http" || u.Scheme == "tftp")
	}
	all := append([]types.Resource{c.Ignition.Config.Replace}, c.Ignition.Config.Merge...)
	all = append(all, c.Ignition.Security.TLS.CertificateAuthorities...)
	for _, l := range c.Storage.Luks {
		all = append(all, l.KeyFile)
	}
	for _, f := range c.Storage.Files {
		all = append(append(all, f.Contents), f.Append...)
	}
	for _, r := range all {
		if open(r) {
			return &problem.Problem{
				Code: "LVE-HASH", Summary: message.F("The Ignition config fetches %s without TLS, and does not say what it should be.", source(r.Source)),
				Fix: message.T("Add verification.hash to it, or use https."),
			}
		}
	}
	return nil
}
