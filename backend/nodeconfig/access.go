package nodeconfig

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// sshConfig is the MachineConfig of ours with the keys.
const sshConfig = "99-master-touchdown-ssh"

// timeServers are the site's time servers, but for what the file has then.
var timeServers = File{Name: "chrony", Path: chronyFile, What: message.T("Time servers")}

// sshKeys adds keys by their own MachineConfig: the operator merges the keys of all, so none is taken away.
func (w Want) sshKeys(ctx context.Context, c Reader) ([]Change, error) {
	var keys []string
	for _, k := range w.SSHKeys {
		if k = strings.TrimSpace(k); k != "" && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	ch := Change{
		What: message.T("SSH keys of the user core"), New: message.F("%d more; current ones stay", len(keys)),
		Login: true,
		In: func(r Config) bool {
			return !slices.ContainsFunc(keys, func(k string) bool { return !slices.Contains(r.Keys, k) })
		},
	}
	config, err := keysConfig(keys)
	if err != nil {
		return nil, err
	}
	return compared(ctx, c, machineConfig(sshConfig, ch, config))
}

// chrony adds time servers to the file that a MachineConfig lays now, or that the node has.
func (w Want) chrony(ctx context.Context, c Reader) ([]Change, error) {
	if len(w.NTPSources) == 0 {
		return nil, nil
	}
	base, err := w.chronyBase(ctx, c)
	if err != nil {
		return nil, err
	}
	content, err := AddSources(base, w.NTPSources)
	if err != nil {
		return nil, err
	}
	f := timeServers
	f.Content = content
	f.Old, f.New = message.Data(strings.Join(Sources(base), ", ")), message.Data(strings.Join(Sources(content), ", "))
	return compared(ctx, c, f.object())
}

// chronyBase is the file's content without ours.
func (w Want) chronyBase(ctx context.Context, c Reader) (string, error) {
	owner, content, err := laid(ctx, c, chronyFile, timeServers.config())
	switch {
	case err != nil:
		return "", err
	case owner > timeServers.config():
		return "", &problem.Problem{
			Code:    "NTP-HELD",
			Summary: message.F("The cluster's MachineConfig %s sets the time servers and wins over any other.", owner),
			Fix:     message.T("Put the site's time servers into that MachineConfig, and leave them out of the site config."),
		}
	case owner == "":
		return w.Chrony, nil
	}
	return content, nil
}

// laid finds the MachineConfig, other than ours, whose content of a file the node gets: the operator takes the one of the last
// name. owner is "" where none lays the file.
func laid(ctx context.Context, c Reader, file, ours string) (owner, content string, err error) {
	configs, _, err := c.List(ctx, kube.MachineConfig(""))
	if err != nil {
		return "", "", err
	}
	for _, mc := range configs {
		if below(mc, "metadata", "labels")["machineconfiguration.openshift.io/role"] != layout.Pool || name(mc) == ours {
			continue
		}
		if text, has := parseConfig(below(mc, "spec")).Files[file]; has && name(mc) > owner {
			owner, content = name(mc), text
		}
	}
	return owner, content, nil
}

// Sources returns the time servers that a chrony.conf names, in its order.
func Sources(conf string) []string {
	var out []string
	for line := range strings.Lines(conf) {
		words := strings.Fields(line)
		if len(words) > 1 && slices.Contains([]string{"server", "pool", "peer"}, strings.ToLower(words[0])) && !slices.Contains(out, words[1]) {
			out = append(out, words[1])
		}
	}
	return out
}

// freshChrony is the file of a node that has none.
const freshChrony = "driftfile /var/lib/chrony/drift\nmakestep 1.0 3\nrtcsync\nlogdir /var/log/chrony\n"

// AddSources adds servers to a chrony.conf, in the form in which the assisted installer does. Those that it has already stay as
// they are. A text that is neither a host name nor an address is a Problem (NTP-NAME): it could be more than one directive.
func AddSources(conf string, servers []string) (string, error) {
	have := Sources(conf)
	if conf == "" {
		conf = freshChrony
	}
	if !strings.HasSuffix(conf, "\n") {
		conf += "\n"
	}
	for _, s := range servers {
		if slices.Contains(have, s) {
			continue
		}
		if !isHost(s) {
			return "", &problem.Problem{
				Code: "NTP-NAME", Summary: message.T("A time server is neither a host name nor an address."),
				Fix: message.T("Correct spec.additionalNTPSources."),
			}
		}
		conf += "server " + s + " iburst\n"
		have = append(have, s)
	}
	return conf, nil
}

func isHost(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Zone() == "" || len(validation.IsDNS1123Subdomain(strings.ToLower(s))) == 0
}
