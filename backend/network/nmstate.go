package network

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nmstate/nmstate/rust/src/go/nmstate/v2"
	"gopkg.in/yaml.v3"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// nmstateLibrary is the real library. Its calls talk to the NetworkManager of the machine that this process runs on and
// cannot be interrupted: a context that ends is noticed only before and after. off says why there is no such machine; what
// works offline works.
type nmstateLibrary struct{ off error }

func (l nmstateLibrary) show(ctx context.Context, onlyConfigured bool) (*state, error) {
	if l.off != nil {
		return nil, l.off
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var options []func(*nmstate.Nmstate)
	if onlyConfigured {
		options = append(options, nmstate.WithRunningConfigOnly())
	}
	text, err := nmstate.New(options...).RetrieveNetState()
	if err != nil {
		return nil, explain(reading, err, nil)
	}
	return parseState([]byte(text))
}

// apply brings a state into being in memory. With a rollback it leaves a checkpoint open that puts the old state back
// after that time; without one the state is kept until the next boot. A state that does not come about is put back by
// the library itself.
func (l nmstateLibrary) apply(ctx context.Context, desired []byte, rollback time.Duration) error {
	if l.off != nil {
		return l.off
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	options := []func(*nmstate.Nmstate){nmstate.WithMemoryOnly()}
	if rollback > 0 {
		options = append(options, nmstate.WithNoCommit(), nmstate.WithTimeout(rollback))
	}
	if _, err := nmstate.New(options...).ApplyNetState(string(desired)); err != nil {
		return explain(applying, err, desired)
	}
	return nil
}

// keyfile is one profile as NetworkManager keeps it on disk.
type keyfile struct{ Name, Text string }

// generate works offline: it checks a state against nmstate's schema and compiles it into keyfiles.
func (nmstateLibrary) generate(ctx context.Context, desired []byte) ([]keyfile, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	text, err := nmstate.New().GenerateConfiguration(string(desired))
	if err != nil {
		return nil, explain(compiling, err, desired)
	}
	var out struct {
		NetworkManager [][2]string `yaml:"NetworkManager"`
	}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		return nil, errors.New("reading nmstate's keyfiles: they are not written as nmstate writes them") // the cause quotes them
	}
	files := make([]keyfile, 0, len(out.NetworkManager))
	for _, f := range out.NetworkManager {
		files = append(files, keyfile{f[0], f[1]})
	}
	return files, nil
}

// failure is an error of nmstate without what the binding and nmstate repeat of the state: that can hold secrets.
type failure struct {
	kind string // nmstate's: InvalidArgument, VerificationError, Bug, ...
	text string // what reason leaves of its words
}

func (f *failure) Error() string { return f.kind + ": " + f.text }

// messageAt finds the library's own words: the binding puts them last, behind the state.
var messageAt = regexp.MustCompile(`(?s)^(.*), err_kind: (\w*)$`)

// parseFailure reads the one string that the binding makes of code, message and kind. What nmstate said is not to be shown.
func parseFailure(err error) (kind, said string) {
	text := err.Error()
	if i := strings.LastIndex(text, ", err_msg: "); i >= 0 {
		if m := messageAt.FindStringSubmatch(text[i+len(", err_msg: "):]); m != nil {
			return m[2], strings.TrimPrefix(m[1], "Error on converting string to rust NetworkState: ")
		}
	}
	return "Unknown", "nmstate gave no reason"
}

// NotTaken is the code of the Problem that the network did not become as asked, with the old settings back.
const NotTaken = "NET-VRFY"

// What nmstate is asked to do. Only applying changes something, and puts it back when it fails.
const (
	reading   = "reading the network's state"
	applying  = "applying the network settings"
	compiling = "compiling the network settings"
	comparing = "comparing the network settings"
)

// explain makes a Problem of what nmstate says about a desired state, or about the present one.
func explain(doing string, err error, desired []byte) error {
	kind, said := parseFailure(err)
	f := &failure{kind, reason(said, desired)}
	p := &problem.Problem{Err: fmt.Errorf("%s: %w", doing, f)}
	switch {
	case doing == reading && !unreachable(said):
		p.Code, p.Summary = "NET-READ", message.T("nmstate could not read this node's network; nothing was changed.")
		p.Fix = message.T("Try again once; if it fails again, make a support bundle.")
	case strings.Contains(said, "CheckpointConflict"):
		return checkpointOpen(f)
	case f.kind == "InvalidArgument":
		p.Code, p.Summary = "NET-ARG", message.F("nmstate does not accept the network settings: %s.", f.text)
		p.Fix = message.T("Correct the settings; if they were typed as a form, make a support bundle.")
	case f.kind == "VerificationError":
		p.Code, p.Summary = NotTaken, message.T("The network did not take the settings; the old ones are back.")
		p.Fix = message.T("Check cable and port, then try again; the log says what differed.")
	case f.kind == "NotSupportedError" || f.kind == "NotImplementedError" || f.kind == "DependencyError":
		p.Code, p.Summary = "NET-MSNG", message.T("This machine's NetworkManager cannot do what the settings ask for.")
		p.Fix = message.T("Leave out what is special (VLAN, bond, MTU) and try again.")
	case strings.Contains(said, "checkpoint ") && strings.Contains(said, " does not exist"): // a new process of it knows none
		p.Code, p.Summary = NoManager, message.T("NetworkManager lost the trial of the network settings, as it does when it is restarted.")
		p.Fix = message.T("Try again; if it comes to this again, make a support bundle.")
	case unreachable(said):
		return noManager(f)
	case doing != applying:
		p.Code, p.Summary = "NET-CALC", message.T("nmstate could not work out the network settings; nothing was changed.")
		p.Fix = message.T("Try again once; if it fails again, make a support bundle.")
	default:
		p.Code, p.Summary = "NET-PRTY", message.T("NetworkManager did not carry out the network settings; the old ones are back.")
		p.Fix = message.T("Try again once; if it fails again, make a support bundle.")
	}
	return p
}

// unreachable tells whether nmstate did not reach NetworkManager. D-Bus and the libraries for it write the words each in their own way.
func unreachable(said string) bool {
	return strings.Contains(said, "ServiceUnknown") || strings.Contains(said, "NameHasNoOwner") ||
		strings.Contains(strings.ToLower(said), "failed to connect")
}

// is tells whether err is a Problem with this code.
func is(err error, code string) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	return ok && p.Code == code
}
