package update_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/media/volume"
	"touchdown/backend/problem"
	"touchdown/backend/update"
	"touchdown/test/stick"
)

// ordering is a key for releases, what a node that trusts it goes by, and the files of a release.
func ordering(t *testing.T) (key envelope.SigningKey, keys update.Keys, files []volume.File, r *update.Release) {
	t.Helper()
	key, public := stick.Key(t)
	var err error
	if keys.Releases, err = envelope.ParseReleaseTrust(envelope.ForReleases(public), nil); err != nil {
		t.Fatal(err)
	}
	files = stick.Release(t, key, "program")
	r, err = update.From("here", keys, func(name string, _ int64) ([]byte, error) {
		return files[slices.IndexFunc(files, func(f volume.File) bool { return f.Name == name })].Data, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return key, keys, files, r
}

const orderType = "application/vnd.touchdown.update-order.v1+json"

// TestWhoOrders: nothing counts but the envelope that a key for releases signed, to the byte, with nothing in it that is not known.
func TestWhoOrders(t *testing.T) {
	key, keys, files, _ := ordering(t)
	other, public := stick.Key(t)
	whole, id := stick.Order(t, key, files, "v1.9.0", nil, "SN1")
	if o, err := keys.Order(whole.Data, key.ID()); err != nil || o.ID != id || o.Version != "v1.9.0" {
		t.Fatalf("%+v, %v", o, err)
	}
	parcel, err := envelope.OpenAs(orderType, whole.Data)
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(k envelope.SigningKey, kind string, payload []byte) []byte {
		text, err := k.Envelope(kind, payload)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	with := func(old, now string) []byte {
		payload := bytes.Replace(parcel.Payload, []byte(old), []byte(now), 1)
		if bytes.Equal(payload, parcel.Payload) {
			t.Fatalf("no %q in %s", old, parcel.Payload)
		}
		return payload
	}
	claims, err := envelope.Enclose(orderType, parcel.Payload, envelope.Signature{KeyID: key.ID(), Bytes: other.Signature(orderType, parcel.Payload)})
	if err != nil {
		t.Fatal(err)
	}
	stripped, err := envelope.Enclose(orderType, parcel.Payload)
	if err != nil {
		t.Fatal(err)
	}
	swapped := bytes.Replace(whole.Data, []byte(base64.StdEncoding.EncodeToString(parcel.Payload)), []byte(base64.StdEncoding.EncodeToString(with(`"SN1"`, `"SN2"`))), 1)
	many := strings.TrimSuffix(strings.Repeat(`"SN1",`, 1001), ",")
	for name, c := range map[string]struct {
		text []byte
		code string
	}{
		"another key":                   {sealed(other, orderType, parcel.Payload), "UPD-FRGD"},
		"another key with the right id": {claims, "UPD-FRGD"},
		"another payload":               {swapped, "UPD-FRGD"},
		"no signature":                  {stripped, "UPD-SHPE"},
		"a document of site media":      {sealed(key, "application/vnd.touchdown.site-media.v1+json", parcel.Payload), "UPD-SHPE"},
		"something behind it":           {append(slices.Clone(whole.Data), '\n'), "UPD-SHPE"},
		"nothing":                       {nil, "UPD-SHPE"},
		"noise":                         {bytes.Repeat([]byte{'['}, 100_000), "UPD-SHPE"},
		"a payload that is not JSON":    {sealed(key, orderType, []byte("order")), "UPD-SHPE"},
		"an unknown key":                {sealed(key, orderType, with(`{"schema"`, `{"not":"before","schema"`)), "UPD-SHPE"},
		"another schema":                {sealed(key, orderType, with("update-order/v1", "update-order/v2")), "UPD-SHPE"},
		"a short id":                    {sealed(key, orderType, with(id, "A")), "UPD-SHPE"},
		"an id with a line break":       {sealed(key, orderType, with(id, id+`\n`)), "UPD-SHPE"},
		"no serial number":              {sealed(key, orderType, with(`["SN1"]`, "[]")), "UPD-SHPE"},
		"no list":                       {sealed(key, orderType, with(`["SN1"]`, "null")), "UPD-SHPE"},
		"too many":                      {sealed(key, orderType, with(`"SN1"`, many)), "UPD-SHPE"},
		"an empty one":                  {sealed(key, orderType, with(`"SN1"`, `""`)), "UPD-SHPE"},
		"a commit":                      {sealed(key, orderType, with("v1.9.0", "63bb2dce")), "UPD-SHPE"},
		"no check sum":                  {sealed(key, orderType, with(`"program":"`, `"program":"g`)), "UPD-SHPE"},
	} {
		if o, err := keys.Order(c.text, key.ID()); o != nil || problem.From(err).Code != c.code {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
	if _, err := keys.Order(whole.Data, other.ID()); problem.From(err).Code != "UPD-FRGD" {
		t.Errorf("an order of a key that is trusted, beside a release of another one: %v", err)
	}
	if _, err := (update.Keys{}).Order(whole.Data, key.ID()); problem.From(err).Code != "UPD-FRGD" {
		t.Errorf("a node that trusts no key for releases: %v", err)
	}
	if keys.Releases, err = envelope.ParseReleaseTrust(envelope.ForReleases(public), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Order(whole.Data, key.ID()); problem.From(err).Code != "UPD-FRGD" {
		t.Errorf("a node that trusts another key: %v", err)
	}
	var most []string
	for i := range 1000 {
		most = append(most, fmt.Sprintf("SN%062d", i))
	}
	if largest, _ := stick.Order(t, key, files, "v1.9.0", nil, most...); len(largest.Data) > update.MostOrder {
		t.Errorf("the largest order has %d bytes", len(largest.Data))
	}
	if _, err := update.NewOrder(&update.Release{}, "v1.9.0", []string{"SN1", "To be filled by O.E.M."}).Sign(key); err == nil || !strings.Contains(err.Error(), "no serial number") {
		t.Errorf("an order for machines that no serial number tells: %v", err)
	}
	if _, err := (&update.Order{Serials: most}).Sign(key); err == nil {
		t.Error("an order without all its parts is signed")
	}
}

// TestWhatIsOrdered: for this machine, the program beside it, and one that is newer than the node's.
func TestWhatIsOrdered(t *testing.T) {
	_, _, _, r := ordering(t)
	for name, c := range map[string]struct {
		change            func(*update.Order)
		serial, says, has string
		code              string
	}{
		"it":                     {nil, "sn1", "", "", ""},
		"one of several":         {func(o *update.Order) { o.Serials = []string{"SN0", "SN1"} }, "", "", "", ""},
		"another machine":        {nil, "SN2", "", "", "UPD-SERL"},
		"a part of its number":   {nil, "SN", "", "", "UPD-SERL"},
		"no serial number":       {nil, "-", "", "", "UPD-SERL"},
		"another program":        {func(o *update.Order) { o.Program = strings.Repeat("0", 64) }, "", "", "", "UPD-HASH"},
		"another version":        {nil, "", "touchdown v1.9.1 linux/amd64", "", "UPD-VERS"},
		"no version":             {nil, "", "hello", "", "UPD-VERS"},
		"the same version":       {nil, "", "", "v1.9.0", "UPD-NEWR"},
		"an older one":           {nil, "", "", "v1.9.1", "UPD-NEWR"},
		"a node without version": {nil, "", "", "63bb2dce", "UPD-UNKN"},
	} {
		o := update.NewOrder(r, "v1.9.0", []string{"SN1"})
		if c.change != nil {
			c.change(o)
		}
		pick := func(given, usual string) string {
			switch given {
			case "":
				return usual
			case "-":
				return ""
			}
			return given
		}
		err := o.For(pick(c.serial, "SN1"), r, pick(c.says, "touchdown v1.9.0 linux/amd64 go1.26"), pick(c.has, "v1.8.2"))
		if err == nil != (c.code == "") || err != nil && problem.From(err).Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// cutNode loses its power at a write: what it has then is either what it had, or what was written.
type cutNode struct {
	*hosttest.Fake
	cut, late bool // late: the write came to its end
}

func (n *cutNode) WriteFile(path string, data []byte, perm fs.FileMode) error {
	if n.cut && !n.late {
		return errCut
	}
	return errors.Join(n.Machine.WriteFile(path, data, perm), map[bool]error{true: errCut}[n.cut])
}

// TestAnOrderFiresOnce: over restarts and power cuts. One whose record was not written before the cut did not begin.
func TestAnOrderFiresOnce(t *testing.T) {
	n := &cutNode{Fake: hosttest.New(t)}
	ids := []string{rand.Text(), rand.Text(), rand.Text(), rand.Text()}
	against := func(id, code string) {
		t.Helper()
		if err := update.SpentOn(n).Against(id); err == nil != (code == "") || err != nil && problem.From(err).Code != code {
			t.Errorf("%s: %v, not %q", id, err, code)
		}
	}
	for _, id := range ids {
		against(id, "")
	}
	n.cut = true
	if err := update.SpentOn(n).Begin(ids[0]); !errors.Is(err, errCut) {
		t.Errorf("%v", err)
	}
	against(ids[0], "")
	n.late = true
	if err := update.SpentOn(n).Begin(ids[0]); !errors.Is(err, errCut) {
		t.Errorf("%v", err)
	}
	against(ids[0], "UPD-USED")
	n.cut, n.late = false, false
	if err := update.SpentOn(n).Begin(ids[0]); problem.From(err).Code != "UPD-USED" {
		t.Errorf("twice: %v", err)
	}
	if err := errors.Join(update.SpentOn(n).Stop(ids[1]), update.SpentOn(n).Begin(ids[2])); err != nil {
		t.Fatal(err)
	}
	if err := update.SpentOn(n).Begin(ids[1]); problem.From(err).Code != "UPD-HALT" {
		t.Errorf("a stopped one: %v", err)
	}
	against(ids[0], "UPD-USED")
	against(ids[1], "UPD-HALT")
	against(ids[2], "UPD-USED")
	against(ids[3], "")
	whole := n.Content(layout.State + "/update-orders")
	for name, text := range map[string]string{"empty": "", "cut": whole[:len(whole)-1], "a line less": whole[:strings.LastIndex(strings.TrimSpace(whole), "\n")+1], "noise": "\x00\x01"} {
		n.File(layout.State+"/update-orders", text)
		against(ids[3], "UPD-REC")
		if update.SpentOn(n).Begin(ids[3]) == nil || update.SpentOn(n).Stop(ids[3]) == nil || n.Content(layout.State+"/update-orders") != text {
			t.Errorf("%s: a record that cannot be read is taken for none, or written again", name)
		}
	}
}

// slowNode takes long to read a file.
type slowNode struct{ update.Node }

func (n slowNode) ReadFile(path string) ([]byte, error) {
	defer time.Sleep(5 * time.Millisecond)
	return n.Node.ReadFile(path)
}

// TestTheRecordOfOrdersLosesNone: the engine stops one order and tries again to note another at the same time.
func TestTheRecordOfOrdersLosesNone(t *testing.T) {
	n := slowNode{hosttest.New(t)}
	var all sync.WaitGroup
	ids := []string{rand.Text(), rand.Text(), rand.Text(), rand.Text()}
	for i, id := range ids {
		all.Go(func() {
			note := update.SpentOn(n).Stop
			if i == 0 {
				note = update.SpentOn(n).Begin
			}
			if err := note(id); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, id := range ids {
		want := "UPD-HALT"
		if i == 0 {
			want = "UPD-USED"
		}
		if err := update.SpentOn(n).Against(id); problem.From(err).Code != want {
			t.Errorf("order %d: %v, want %s", i, err, want)
		}
	}
}

// FuzzOrder: what is on a stick is judged and never crashes.
func FuzzOrder(f *testing.F) {
	key, public := stick.Key(f)
	releases, err := envelope.ParseReleaseTrust(envelope.ForReleases(public), nil)
	if err != nil {
		f.Fatal(err)
	}
	keys := update.Keys{Releases: releases}
	order, _ := stick.Order(f, key, stick.Release(f, key, "program"), "v1.9.0", nil, "SN1")
	f.Add(order.Data)
	f.Fuzz(func(t *testing.T, text []byte) {
		// As it is, and as the payload of an order that is signed.
		if o, err := keys.Order(text, key.ID()); err == nil && !bytes.Equal(text, order.Data) {
			t.Errorf("%+v", o)
		}
		sealed, err := key.Envelope(orderType, text)
		if err != nil {
			return
		}
		if o, err := keys.Order(sealed, key.ID()); err == nil {
			if again, err := json.Marshal(o); err != nil || !bytes.Equal(again, text) {
				t.Errorf("%+v, %v", o, err)
			}
		}
	})
}
