package nodeconfig

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// storeConfig lays storage.conf where the release has no field for it. CRI-O has had no folder of drop-ins for it in any release
// up to OpenShift 4.21 (read in containers/storage 1.58), so the whole file is laid, made from the one that the node has
// without us.
const storeConfig = "99-master-touchdown-imagestore"

// imageStore names a read-only store of images beside the node's own: in the API's field for it where there is one. A
// MachineConfig of ours from before an upgrade stays: it would hide the field.
func (w Want) imageStore(ctx context.Context, c Reader) ([]Change, error) {
	if w.ImageStore == "" {
		return nil, nil
	}
	owner, base, err := laid(ctx, c, storageFile, storeConfig)
	if err != nil {
		return nil, err
	}
	ours, err := c.Get(ctx, kube.MachineConfig(storeConfig))
	if err != nil {
		return nil, err
	}
	if ours == nil {
		o, ok, err := w.storeField(ctx, c, owner, base)
		if err != nil {
			return nil, err
		}
		if ok {
			return compared(ctx, c, o)
		}
	}
	switch {
	case owner > storeConfig:
		return nil, &problem.Problem{
			Code:    "CST-HELD",
			Summary: message.F("The cluster's MachineConfig %s writes %s and wins over any other.", owner, storageFile),
			Fix:     message.F("Add %s to additionalimagestores in that MachineConfig.", w.ImageStore),
		}
	case owner == "":
		base = w.Storage
	}
	before, err := stores(base)
	if err != nil {
		return nil, err
	}
	content, err := AddStore(base, w.ImageStore)
	if err != nil {
		return nil, err
	}
	ch := storeChange(before, w.ImageStore, func(r Config) bool { return r.Files[storageFile] == content })
	return compared(ctx, c, machineConfig(storeConfig, ch, fileConfig(storageFile, content)))
}

// storeChange is the change as the review shows it, whatever object it is written to.
func storeChange(before []string, store string, in func(Config) bool) Change {
	return Change{
		What: message.T("Image store"), Old: message.Data(strings.Join(before, ", ")), New: message.Data(strings.Join(union(before, store), ", ")), File: storageFile,
		Renders: true, Ours: true, In: in,
	}
}

func union(list []string, more string) []string {
	if slices.Contains(list, more) {
		return list
	}
	return append(slices.Clone(list), more)
}

// stores returns the additional stores that a storage.conf names.
func stores(conf string) ([]string, error) {
	var doc struct {
		Storage struct {
			Options struct {
				Stores []string `toml:"additionalimagestores"`
			} `toml:"options"`
		} `toml:"storage"`
	}
	if err := toml.Unmarshal([]byte(conf), &doc); err != nil {
		return nil, unreadable(err)
	}
	return doc.Storage.Options.Stores, nil
}

func unreadable(err error) error {
	summary := message.F("The node's %s cannot be read as TOML.", storageFile)
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := at.Position()
		summary = message.F("The node's %s cannot be read as TOML: line %d, column %d.", storageFile, line, column)
	}
	return &problem.Problem{
		Code: "CST-TML", Summary: summary,
		Fix: message.T("Someone edited it by hand. Put the content of the rendered MachineConfig back, then retry."), Err: err,
	}
}

// AddStore adds an additional image store to a storage.conf. Every other line stays unchanged; the file comes back as it was
// when it names the store already. A file that is not TOML is a Problem with the line (CST-TML).
func AddStore(conf, path string) (string, error) {
	before, err := stores(conf)
	if err != nil {
		return "", err
	}
	if slices.Contains(before, path) {
		return conf, nil
	}
	all := union(before, path)
	var want map[string]any
	if err := toml.Unmarshal([]byte(conf), &want); err != nil {
		return "", unreadable(err)
	}
	if want == nil {
		want = map[string]any{}
	}
	setStores(want, all)
	edited := editStores(conf, all)
	var got map[string]any
	if err := toml.Unmarshal([]byte(edited), &got); err == nil && reflect.DeepEqual(got, want) {
		return edited, nil
	}
	// A file that is written in a way that nobody writes it: the meaning is kept, its comments are not.
	data, err := toml.Marshal(want)
	if err != nil {
		return "", fmt.Errorf("writing storage.conf: %w", err)
	}
	return string(data), nil
}

func setStores(doc map[string]any, all []string) {
	for _, key := range []string{"storage", "options"} {
		next, _ := doc[key].(map[string]any)
		if next == nil {
			next = map[string]any{}
			doc[key] = next
		}
		doc = next
	}
	list := make([]any, len(all))
	for i, s := range all {
		list[i] = s
	}
	doc["additionalimagestores"] = list
}

var (
	optionsTable = regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*storage\.options[ \t]*\][^\n]*\n?`)
	storesKey    = regexp.MustCompile(`(?m)^[ \t]*additionalimagestores[ \t]*=[ \t]*\[[^\]]*\][^\n]*\n?`)
)

// editStores writes the key as its own line, behind the head of its table. The caller reads the result and compares.
func editStores(conf string, all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	line := "additionalimagestores = [" + strings.Join(quoted, ", ") + "]\n"
	if conf != "" && !strings.HasSuffix(conf, "\n") {
		conf += "\n"
	}
	if storesKey.MatchString(conf) {
		return storesKey.ReplaceAllLiteralString(conf, line)
	}
	if head := optionsTable.FindStringIndex(conf); head != nil {
		return conf[:head[1]] + line + conf[head[1]:]
	}
	return conf + "\n[storage.options]\n" + line
}
