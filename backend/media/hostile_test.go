package media

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"touchdown/backend/envelope"
	"touchdown/backend/media/volume"
	"touchdown/test/rounds"
)

// target is the machine that volumes are tried on, and what a hostile one has to work with: everything but the factory's keys.
type target struct {
	trust      *envelope.Trust
	serial     string
	used       []string
	passphrase string

	factory, lost, stranger envelope.SigningKey // trusted, revoked, unknown
	lock                    envelope.Lock
	config                  []byte
	honest                  *envelope.Document
	signed                  []byte
}

func newTarget(t testing.TB) *target {
	t.Helper()
	site := &target{serial: "SN1", config: []byte("apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec: {clusterName: a, baseDomain: b.example.com}\n")}
	var trusted []byte
	for _, key := range []*envelope.SigningKey{&site.factory, &site.lost, &site.stranger} {
		made, err := envelope.NewSigningKey()
		if err != nil {
			t.Fatal(err)
		}
		*key = made
		if key != &site.stranger {
			_, public, err := made.Files()
			if err != nil {
				t.Fatal(err)
			}
			trusted = append(trusted, public...)
		}
	}
	var err error
	if site.trust, err = envelope.ParseTrust(trusted, []byte(site.lost.ID())); err != nil {
		t.Fatal(err)
	}
	if site.lock, site.passphrase, err = envelope.GeneratedLock(); err != nil {
		t.Fatal(err)
	}
	site.honest, site.signed = site.sign(t, site.factory, site.lock, site.serial, site.config)
	return site
}

func (s *target) sign(t testing.TB, key envelope.SigningKey, lock envelope.Lock, serial string, config []byte) (*envelope.Document, []byte) {
	t.Helper()
	d := envelope.New(serial)
	if err := d.Seal(config, lock); err != nil {
		t.Fatal(err)
	}
	signed, err := envelope.Sign(d, key)
	if err != nil {
		t.Fatal(err)
	}
	return &d, signed
}

// attempts are the ways to make one.
var attempts = map[string]func(*testing.T, *target, rounds.Round) []byte{
	"noise":                 func(_ *testing.T, _ *target, r rounds.Round) []byte { return noise(r, r.IntN(1<<20)) },
	"bytes changed":         bytesChanged,
	"superblock":            superblock,
	"exFAT changed":         exfatChanged,
	"chains that lead back": chains,
	"cut": func(t *testing.T, s *target, r rounds.Round) []byte {
		b := s.volume(t, r, s.signed)
		return b[:r.IntN(len(b))]
	},
	"traversal":         traversal,
	"names twice":       namesTwice,
	"links and devices": links,
	"no signature":      resigned(func(e *dsse.Envelope, _ rounds.Round) { e.Signatures = nil }),
	"another signature": resigned(func(e *dsse.Envelope, r rounds.Round) {
		e.Signatures[0].Sig = base64.StdEncoding.EncodeToString(noise(r, 64))
	}),
	"another payload": resigned(otherPayload),
	"another type":    resigned(func(e *dsse.Envelope, _ rounds.Round) { e.PayloadType = "application/json" }),
	"many signatures": resigned(func(e *dsse.Envelope, r rounds.Round) { e.Signatures = make([]dsse.Signature, r.IntN(1000)) }),
	"unknown key": func(t *testing.T, s *target, r rounds.Round) []byte {
		return s.signedVolume(t, r, s.stranger, s.lock, s.serial)
	},
	"revoked key": func(t *testing.T, s *target, r rounds.Round) []byte {
		return s.signedVolume(t, r, s.lost, s.lock, s.serial)
	},
	"another serial": func(t *testing.T, s *target, r rounds.Round) []byte {
		return s.signedVolume(t, r, s.factory, s.lock, "SN2")
	},
	"used before":             usedBefore,
	"another passphrase":      otherPassphrase,
	"stranger as the factory": strangerAsFactory,
	"JSON bomb": func(t *testing.T, s *target, r rounds.Round) []byte {
		return s.volume(t, r, []byte(strings.Repeat(`{"payload":[`, 1+r.IntN(100_000))))
	},
	"YAML bomb without a signature": func(t *testing.T, _ *target, r rounds.Round) []byte {
		return packed(t, r, volume.File{Name: PlainFile, Data: bomb(r)})
	},
	"YAML bomb of the factory": func(t *testing.T, s *target, r rounds.Round) []byte {
		_, signed := s.sign(t, s.factory, s.lock, s.serial, bomb(r))
		return s.volume(t, r, signed)
	},
}

func noise(r rounds.Round, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// packed is a volume of one of the formats with files.
func packed(t *testing.T, r rounds.Round, files ...volume.File) []byte {
	t.Helper()
	write := rounds.One(r, volume.WriteFAT, volume.WriteISO)
	i, err := write(Label, files)
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(i.Head), make([]byte, i.Size-int64(len(i.Head)))...)
}

func (s *target) volume(t *testing.T, r rounds.Round, signed []byte) []byte {
	t.Helper()
	return packed(t, r, volume.File{Name: EnvelopeFile, Data: signed}, volume.File{Name: "OTHER.TXT", Data: noise(r, r.IntN(10_000))})
}

func (s *target) signedVolume(t *testing.T, r rounds.Round, key envelope.SigningKey, lock envelope.Lock, serial string) []byte {
	t.Helper()
	_, signed := s.sign(t, key, lock, serial, s.config)
	return s.volume(t, r, signed)
}

// metadata is how much of a volume is tables and folders, in bytes: ISO9660's folders end before that, as do FAT's.
const metadata = 50 << 10

func bytesChanged(t *testing.T, s *target, r rounds.Round) []byte {
	b := s.volume(t, r, s.signed)
	for range 1 + r.IntN(64) {
		b[r.IntN(metadata)] = byte(r.Uint32())
	}
	return b
}

// exfatChanged is a volume with exFAT, which nothing here writes, with other bytes and extreme numbers in its first sector, its table and its
// folders. There is nothing for a node on it.
func exfatChanged(t *testing.T, _ *target, r rounds.Round) []byte {
	t.Helper()
	packed, err := os.Open("volume/testdata/exfat.img.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	var b []byte
	unpacked, err := gzip.NewReader(packed)
	if err == nil {
		b, err = io.ReadAll(unpacked)
	}
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	table, folders := int(le.Uint32(b[80:]))<<9, int(le.Uint32(b[88:]))<<9
	for range 1 + r.IntN(8) {
		from, size := 72, 48
		switch r.IntN(3) {
		case 1:
			from, size = table, 4<<10
		case 2:
			from, size = folders, 128<<10
		}
		if at := from + r.IntN(size); r.Chance(2) {
			le.PutUint32(b[at:], rounds.One(r, 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, r.Uint32()))
		} else {
			b[at] = byte(r.Uint32())
		}
	}
	return b
}

// superblock puts extreme numbers into the first sector of FAT, or the descriptors and folders of ISO9660.
func superblock(t *testing.T, s *target, r rounds.Round) []byte {
	b := s.volume(t, r, s.signed)
	from, size := 11, 60
	if b[0] == 0 {
		from, size = 16*2048, 10*2048
	}
	for range 1 + r.IntN(8) {
		binary.LittleEndian.PutUint32(b[from+r.IntN(size):], rounds.One(r, 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, r.Uint32()))
	}
	return b
}

// chains fills the tables of FAT with links between a few clusters, or points the folders of ISO9660 at each other.
func chains(t *testing.T, s *target, r rounds.Round) []byte {
	b := s.volume(t, r, s.signed)
	if b[0] == 0 {
		root := b[23*2048 : 25*2048]
		for i := 33; i < len(root); i++ {
			if root[i-33] != 0 && r.Chance(40) {
				root[i-8] |= 2 // a folder
			}
		}
		return b
	}
	few := uint32(1 + r.IntN(50))
	for at := 512 + 4; at < 512*65; at += 2 {
		binary.LittleEndian.PutUint16(b[at:], uint16(2+r.Uint32()%few))
	}
	entries := b[512*65 : 512*66]
	for at := 0; at < len(entries); at += 32 {
		if r.Chance(2) {
			entries[at+11] = 0x10 // a folder
		}
		if r.Chance(3) {
			binary.LittleEndian.PutUint32(entries[at+28:], r.Uint32())
		}
	}
	return b
}

// traversal puts names of other places into the folders.
func traversal(t *testing.T, s *target, r rounds.Round) []byte {
	b := s.volume(t, r, s.signed)
	evil := rounds.One(r, "../../../etc/sh", "/etc/cron.d/xx", `..\..\windows\x`, "..", "a\x00b", "\x1b[2J\x1b]0;x\x07", "site/../../x", strings.Repeat("../", 5))
	from := []rune("site-config.dsse.json")
	name := []rune(evil)
	for len(name) < len(from) {
		name = append(name, 0)
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		wide := func(text []rune) (w []byte) {
			for _, u := range utf16.Encode(text) {
				w = order.AppendUint16(w, u)
			}
			return w
		}
		b = bytes.ReplaceAll(b, wide(from), wide(name[:len(from)]))
		b = bytes.ReplaceAll(b, wide(from[:5]), wide(name[:5])) // the first part of a name in FAT's entries
	}
	return b
}

func namesTwice(t *testing.T, s *target, r rounds.Round) []byte {
	_, other := s.sign(t, s.stranger, s.lock, s.serial, s.config)
	files := []volume.File{{Name: EnvelopeFile, Data: s.signed}, {Name: strings.ToUpper(EnvelopeFile), Data: other}}
	if r.Chance(2) {
		files[0], files[1] = files[1], files[0]
	}
	return packed(t, r, files...)
}

// links marks the records of ISO9660 as links and devices, or the entries of FAT as what there is not.
func links(t *testing.T, s *target, r rounds.Round) []byte {
	b := s.volume(t, r, s.signed)
	if b[0] == 0 {
		for _, at := range []int{23*2048 + 68 + 25, 24*2048 + 68 + 25} {
			b[at] |= rounds.One(r, byte(0x04), 0x80, 0x84)
		}
		return b
	}
	for at := 512*65 + 32 + 11; at < 512*66; at += 32 {
		b[at] = rounds.One(r, byte(0x08), 0x0f, 0xff, 0x48, 0x10)
	}
	return b
}

// resigned changes the honest envelope behind its signature.
func resigned(edit func(*dsse.Envelope, rounds.Round)) func(*testing.T, *target, rounds.Round) []byte {
	return func(t *testing.T, s *target, r rounds.Round) []byte {
		var e dsse.Envelope
		if err := json.Unmarshal(s.signed, &e); err != nil {
			t.Fatal(err)
		}
		edit(&e, r)
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return s.volume(t, r, text)
	}
}

func otherPayload(e *dsse.Envelope, r rounds.Round) {
	payload, _ := e.DecodeB64Payload()
	before := bytes.Clone(payload)
	for bytes.Equal(before, payload) {
		payload[r.IntN(len(payload))] = byte(r.Uint32())
	}
	e.Payload = base64.StdEncoding.EncodeToString(payload)
}

func usedBefore(t *testing.T, s *target, r rounds.Round) []byte {
	d, signed := s.sign(t, s.factory, s.lock, s.serial, s.config)
	s.used = append(s.used, d.ID)
	return s.volume(t, r, signed)
}

func otherPassphrase(t *testing.T, s *target, r rounds.Round) []byte {
	lock, _, err := envelope.GeneratedLock()
	if err != nil {
		t.Fatal(err)
	}
	return s.signedVolume(t, r, s.factory, lock, s.serial)
}

func strangerAsFactory(t *testing.T, s *target, r rounds.Round) []byte {
	_, signed := s.sign(t, s.stranger, s.lock, s.serial, s.config)
	return s.volume(t, r, bytes.ReplaceAll(signed, []byte(s.stranger.ID()), []byte(s.factory.ID())))
}

// bomb is a YAML document that is small and becomes huge, or deep.
func bomb(r rounds.Round) []byte {
	if r.Chance(2) {
		return []byte("spec: " + strings.Repeat("[", 1+r.IntN(100_000)))
	}
	text := "a0: &a0 [x, x]\n"
	for i := 1; i < 10+r.IntN(50); i++ {
		before, now := string(rune('a'+(i-1)%26)), string(rune('a'+i%26))
		text += now + "0: &" + now + "0 [*" + before + "0, *" + before + "0, *" + before + "0]\n"
	}
	return []byte("apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\n" + text)
}
