package iso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/problem"
	"touchdown/test/liveiso"
	"touchdown/test/wait"
)

var config = []byte(`{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/a","mode":384,"contents":{"source":"data:,planted"}}]}}`)

var keyfile = File{"eno1.nmconnection", []byte("[connection]\nid=eno1\ntype=ethernet\n")}

func mustRead(t testing.TB, image []byte) *Image {
	t.Helper()
	i, err := Read(bytes.NewReader(image), int64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// wantCode wants a problem with a code and something to try.
func wantCode(t testing.TB, err error, code string) {
	t.Helper()
	if p := problem.From(err); err == nil || p.Code != code || p.Fix.String() == "" {
		t.Errorf("got %v, want %s", err, code)
	}
}

// disk is an image in memory.
type disk struct{ b []byte }

func (d *disk) WriteAt(b []byte, offset int64) (int, error) {
	if offset < 0 || offset+int64(len(b)) > int64(len(d.b)) {
		return 0, io.ErrShortWrite
	}
	return copy(d.b[offset:], b), nil
}

func (d *disk) Sync() error { return nil }

// filled fills an image, and says what it is then.
func filled(t testing.TB, image []byte, c Content, force bool) ([]byte, *Image) {
	t.Helper()
	f, err := mustRead(t, image).Fill(c, force)
	if err != nil {
		t.Fatal(err)
	}
	to := &disk{bytes.Clone(image)}
	if err := f.write(to); err != nil {
		t.Fatal(err)
	}
	return to.b, mustRead(t, to.b)
}

// contentFor is a content with all that a kind of image can have.
func contentFor(kind string) Content {
	c := Content{Ignition: config}
	if kind != liveiso.Y2020 {
		c.Kargs = Edits{Append: []string{"console=ttyS0,115200n8"}, Delete: []string{"coreos.liveiso=test"}, Replace: []string{"ignition.platform.id=metal=qemu"}}
	}
	if kind != liveiso.Y2020 && kind != liveiso.Y2021 {
		c.Keyfiles = []File{keyfile}
	}
	return c
}

// TestEveryKindOfImageIsFilled fills images of each kind, with short names and with long ones: what went in is read back, and no byte
// outside of the areas changes.
func TestEveryKindOfImageIsFilled(t *testing.T) {
	generations := map[string]string{liveiso.Y2020: ByHeader, liveiso.Y2021: ByHeader, liveiso.Y2021Info: ByHeader, liveiso.Y2022: ByName, liveiso.Y2023: ByInfo, liveiso.Y2023s390: ByInfo}
	for _, kind := range liveiso.Kinds {
		for _, long := range []bool{false, true} {
			image := liveiso.Make(kind, long)
			before := mustRead(t, image)
			if before.Generation != generations[kind] || before.Half != "" || before.Config() != nil || before.Ignition.Used != 0 || before.Ignition.Length != liveiso.IgnitionSize || before.Label != "LIVE-TEST" {
				t.Fatalf("%s: %+v", kind, before)
			}
			c := contentFor(kind)
			got, after := filled(t, image, c, false)
			if !bytes.Equal(after.Config(), config) || after.Half != "" || after.Ignition.Used == 0 {
				t.Errorf("%s: config %q, half %q", kind, after.Config(), after.Half)
			}
			if len(c.Keyfiles) > 0 && (len(after.Files) != 2 || after.Files[1].Path != "etc/coreos-firstboot-network/eno1.nmconnection" || !bytes.Equal(after.Files[1].Data, keyfile.Data)) {
				t.Errorf("%s: %+v", kind, after.Files)
			}
			want := "mitigations=auto,nosmt ignition.firstboot ignition.platform.id=qemu console=ttyS0,115200n8"
			if kind != liveiso.Y2020 && (after.Kargs.Args != want || after.Kargs.Default != liveiso.Default) {
				t.Errorf("%s: kernel arguments %q", kind, after.Kargs.Args)
			}
			areas := []Area{before.Ignition}
			if before.Kargs != nil {
				areas = append(areas, before.Kargs.Areas...)
			}
			for n := range got {
				if got[n] != image[n] && !slices.ContainsFunc(areas, func(a Area) bool { return meet(int64(n), 1, a.Offset, a.Length) }) {
					t.Fatalf("%s: byte %d changed", kind, n)
				}
			}
		}
	}
}

// TestFilledTwice: a filled image is refused without force. With it, the image is what it would be filled once: nothing of the first
// content stays.
func TestFilledTwice(t *testing.T) {
	image := liveiso.Make(liveiso.Y2023, true)
	first, i := filled(t, image, Content{Ignition: bytes.Replace(config, []byte("planted"), bytes.Repeat([]byte("abc"), 900), 1), Keyfiles: []File{keyfile}, Kargs: Edits{Append: []string{"first"}}}, false)
	_, err := i.Fill(Content{Ignition: config}, false)
	wantCode(t, err, "LVE-FULL")
	_, onlyKargs := filled(t, image, Content{Kargs: Edits{Append: []string{"first"}}}, false)
	_, err = onlyKargs.Fill(Content{Ignition: config}, false)
	wantCode(t, err, "LVE-FULL")
	again, _ := filled(t, first, contentFor(liveiso.Y2023), true)
	once, _ := filled(t, image, contentFor(liveiso.Y2023), false)
	if !bytes.Equal(again, once) {
		t.Error("something of the first content is left")
	}
	empty, _ := filled(t, first, Content{}, true)
	if !bytes.Equal(empty, image) {
		t.Error("an image that is filled with nothing is not the one that it was")
	}
}

// TestCoreOSInstallersArchiveIsRead reads an area that coreos-installer 0.27.0 wrote (iso customize with --live-ignition,
// --network-keyfile), compressed with xz, alone and behind other archives.
func TestCoreOSInstallersArchiveIsRead(t *testing.T) {
	theirs, err := os.ReadFile("testdata/coreos-installer-0.27.0.img")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := pack([]File{{"config.ign", []byte("old")}, {"other", []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	plain := cpio([]File{{"config.ign", []byte("older")}, {"third/one", []byte("y")}})
	for n, area := range [][]byte{theirs, slices.Concat(ours, make([]byte, 100), theirs), slices.Concat(plain, make([]byte, 8), ours, theirs, make([]byte, 3))} {
		files, err := unpack(area)
		if err != nil || len(files) != 2+n {
			t.Fatalf("%d: %d files, %v", n, len(files), err)
		}
		i := &Image{Files: files}
		if c, err := ReadConfig(i.Config()); err != nil || c.Version != "3.3.0" || !slices.Equal(c.Sources, []string{"inline"}) {
			t.Errorf("%d: %+v, %v", n, c, err)
		}
		if last := files[len(files)-1]; last.Path != keyfileDir+"eno1.nmconnection" || !strings.Contains(string(last.Data), "id=eno1") {
			t.Errorf("%d: %s", n, last.Path)
		}
	}
	for at := 3; at < len(theirs); at += 70 {
		if _, err := unpack(append(bytes.Clone(theirs[:at]), 0, 0, 0, 0)); err == nil {
			t.Errorf("an archive that is cut off at %d is read", at)
		}
	}
	want, err := unpack(theirs)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(theirs); n += 9 { // what is damaged is seen
		broken := bytes.Clone(theirs)
		broken[n] ^= 1
		if got, err := unpack(broken); err == nil && !slices.EqualFunc(got, want, func(a, b File) bool { return a.Path == b.Path && bytes.Equal(a.Data, b.Data) }) {
			t.Errorf("with a change of byte %d, something else is read", n)
		}
	}
}

// TestNamesInArchives: every name that the kernel takes for that of the config is the config's, and what is not shown is not left unsaid.
func TestNamesInArchives(t *testing.T) {
	for _, name := range []string{"./config.ign", "/config.ign", "//config.ign", "a/../config.ign"} {
		files, err := unpack(cpio([]File{{"config.ign", []byte("first")}, {name, config}}))
		if i := (&Image{Files: files}); err != nil || len(files) != 1 || !bytes.Equal(i.Config(), config) {
			t.Errorf("%s: %+v, %v", name, files, err)
		}
	}
	link := bytes.Replace(cpio([]File{{"config.ign", []byte("etc/a")}}), []byte("00008180"), []byte("0000a1ff"), 1)
	if _, err := unpack(link); err == nil || !strings.Contains(err.Error(), `"config.ign" is neither a file nor a folder`) {
		t.Errorf("a link: %v", err)
	}
	image := liveiso.Make(liveiso.Y2023, true)
	area := mustRead(t, image).Ignition
	folder := bytes.ReplaceAll(cpio([]File{{"config.ign", nil}}), []byte("00008180"), []byte("000041ed"))
	copy(image[area.Offset:], folder)
	i := mustRead(t, image)
	if _, err := i.Fill(Content{Ignition: config}, false); i.Half != "" || len(i.Files) > 0 {
		t.Errorf("a folder: %q, %+v", i.Half, i.Files)
	} else {
		wantCode(t, err, "LVE-FULL")
	}
}

// TestHostileImagesAreRefused changes single facts of good images. Each is refused with a code, before anything could be written.
func TestHostileImagesAreRefused(t *testing.T) {
	replace := func(old, with string) func([]byte) []byte {
		return func(b []byte) []byte {
			if with = with + strings.Repeat(" ", len(old)-len(with)); !bytes.Contains(b, []byte(old)) {
				t.Fatalf("no %q", old)
			}
			return bytes.Replace(b, []byte(old), []byte(with), 1)
		}
	}
	number := func(offset int, value uint64) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[offset:], value)
			return b
		}
	}
	const header = systemArea - 16 // of the Ignition area: offset and length
	words := map[string]string{    // of errors that another fault of the same document would not have
		"length huge": "9000000000000000000 bytes", "length nothing": "an area of 0 bytes", "offset negative": "offset -363",
		"kargs.json size": "9999 bytes for kernel arguments", "kargs.json small": "20 bytes for kernel arguments", "kargs.json offset": "no byte -9",
	}
	for name, test := range map[string]struct {
		kind, code string
		change     func([]byte) []byte
	}{
		"not an ISO":           {liveiso.Y2023, "LVE-KND", func([]byte) []byte { return bytes.Repeat([]byte("no image "), 9000) }},
		"empty":                {liveiso.Y2023, "LVE-KND", func([]byte) []byte { return nil }},
		"no live image":        {liveiso.Y2022, "LVE-KND", replace("ignition.img", "ignition.xxx")},
		"cut off":              {liveiso.Y2023, "LVE-CUT", func(b []byte) []byte { return b[:len(b)-2048] }},
		"header beyond":        {liveiso.Y2021, "LVE-BAD", number(header, 1<<40)},
		"header overflow":      {liveiso.Y2021, "LVE-BAD", number(header, 1<<63)},
		"header other length":  {liveiso.Y2021, "LVE-BAD", number(header+8, 4096)},
		"kargs length":         {liveiso.Y2021, "LVE-BAD", number(systemArea-24-64, 4096)},
		"kargs no length":      {liveiso.Y2021, "LVE-BAD", number(systemArea-24-64, 0)},
		"kargs beyond":         {liveiso.Y2021, "LVE-BAD", number(systemArea-24-48, 1<<40)},
		"kargs overflow":       {liveiso.Y2021, "LVE-BAD", number(systemArea-24-48, 1<<64-1)},
		"kargs in descriptor":  {liveiso.Y2021, "LVE-BAD", number(systemArea-24-48, systemArea)},
		"kargs in a folder":    {liveiso.Y2021, "LVE-BAD", number(systemArea-24-48, 20*sector)},
		"kargs in the area":    {liveiso.Y2021, "LVE-BAD", func(b []byte) []byte { return number(systemArea-24-48, binary.LittleEndian.Uint64(b[header:]))(b) }},
		"default beyond":       {liveiso.Y2021, "LVE-BAD", number(systemArea-24-56, 1<<40)},
		"igninfo no JSON":      {liveiso.Y2023, "LVE-BAD", replace(`{"file"`, `{'file'`)},
		"igninfo other file":   {liveiso.Y2023, "LVE-KND", replace(`"images/ignition.img"`, `"images/none.img"`)},
		"igninfo up":           {liveiso.Y2023, "LVE-KND", replace(`"images/ignition.img"`, `"../../etc/a"`)},
		"igninfo folder":       {liveiso.Y2023, "LVE-KND", replace(`"images/ignition.img"`, `"images"`)},
		"offset in the next":   {liveiso.Y2023s390, "LVE-BAD", replace(`"length": 16384`, `"length": 16999`)},
		"offset negative":      {liveiso.Y2023s390, "LVE-BAD", replace(`"offset": 2363`, `"offset": -363`)},
		"length nothing":       {liveiso.Y2023s390, "LVE-BAD", replace(`"length": 16384`, `"length": 0`)},
		"length huge":          {liveiso.Y2023s390, "LVE-BAD", replace(`"length": 16384, "offset": 2363`, `"length": 9000000000000000000`)},
		"kargs.json size":      {liveiso.Y2023, "LVE-BAD", replace(`"size": 256`, `"size":9999`)},
		"kargs.json small":     {liveiso.Y2023, "LVE-BAD", replace(`"size": 256`, `"size": 20`)},
		"kargs.json offset":    {liveiso.Y2023, "LVE-BAD", replace(`"offset": 30`, `"offset": -9`)},
		"kargs.json pad":       {liveiso.Y2023s390, "LVE-BAD", replace(`"pad": "\u0000"`, `"pad": "ab"`)},
		"kargs.json file":      {liveiso.Y2023, "LVE-BAD", replace("EFI/fedora/grub.cfg\"", "EFI/none\"")},
		"kargs.json same file": {liveiso.Y2023, "LVE-BAD", replace(`{"offset": 18, "path": "isolinux/isolinux.cfg"}`, `{"offset": 30, "path": "EFI/fedora/grub.cfg"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			image := test.change(liveiso.Make(test.kind, true))
			_, err := Read(bytes.NewReader(image), int64(len(image)))
			wantCode(t, err, test.code)
			if says := words[name]; err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%v does not say %q", err, says)
			}
			if err != nil && strings.Contains(err.Error(), "fault of Touchdown") {
				t.Error(err)
			}
		})
	}
}

// TestFilesThatOverlapWithAnArea moves another file of the image into the Ignition area.
func TestFilesThatOverlapWithAnArea(t *testing.T) {
	image := liveiso.Make(liveiso.Y2023, true)
	area := mustRead(t, image).Ignition
	at := bytes.Index(image, []byte("ROOTFS.IMG;1"))
	binary.LittleEndian.PutUint32(image[at-33+2:], uint32(area.Offset/sector+1))
	_, err := Read(bytes.NewReader(image), int64(len(image)))
	wantCode(t, err, "LVE-BAD")
	if err == nil || !strings.Contains(err.Error(), "rootfs.img") {
		t.Errorf("%v does not name the file", err)
	}
}

// noise is text that hardly compresses, the same every time.
func noise(seed uint32, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[seed>>26]
	}
	return b
}

// TestContentIsRefused: what does not fit or makes no sense is refused.
func TestContentIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		kind, code string
		content    Content
	}{
		"too large":            {liveiso.Y2023, "LVE-SPCE", Content{Ignition: noise(1, 3*liveiso.IgnitionSize)}},
		"no keyfiles here":     {liveiso.Y2021, "LVE-NET", Content{Keyfiles: []File{keyfile}}},
		"keyfile twice":        {liveiso.Y2023, "LVE-NET", Content{Keyfiles: []File{keyfile, keyfile}}},
		"keyfile elsewhere":    {liveiso.Y2023, "LVE-NET", Content{Keyfiles: []File{{"../a.nmconnection", keyfile.Data}}}},
		"keyfile name":         {liveiso.Y2023, "LVE-NET", Content{Keyfiles: []File{{"eno1", keyfile.Data}}}},
		"keyfile hidden":       {liveiso.Y2023, "LVE-NET", Content{Keyfiles: []File{{".a.nmconnection", keyfile.Data}}}},
		"keyfile no keyfile":   {liveiso.Y2023, "LVE-NET", Content{Keyfiles: []File{{"a.nmconnection", []byte("id=a\n")}}}},
		"no kernel arguments":  {liveiso.Y2020, "LVE-ARGS", Content{Kargs: Edits{Append: []string{"a"}}}},
		"delete what is not":   {liveiso.Y2023, "LVE-ARGS", Content{Kargs: Edits{Delete: []string{"mitigations"}}}},
		"replace what is not":  {liveiso.Y2023, "LVE-ARGS", Content{Kargs: Edits{Replace: []string{"mitigations=off=auto"}}}},
		"replace half":         {liveiso.Y2023, "LVE-ARGS", Content{Kargs: Edits{Replace: []string{"mitigations=auto,nosmt"}}}},
		"two arguments":        {liveiso.Y2023, "LVE-ARGS", Content{Kargs: Edits{Append: []string{"a b"}}}},
		"second line":          {liveiso.Y2023, "LVE-ARGS", Content{Kargs: Edits{Append: []string{"a\nhalt"}}}},
		"command of GRUB":      {liveiso.Y2023, "LVE-ARGS", Content{Kargs: Edits{Append: []string{"a;halt"}}}},
		"padding":              {liveiso.Y2023, "LVE-ARGS", Content{Kargs: Edits{Replace: []string{"ignition.platform.id=metal=#"}}}},
		"nothing":              {liveiso.Y2023, "LVE-ARGS", Content{Kargs: Edits{Append: []string{""}}}},
		"too many arguments":   {liveiso.Y2023, "LVE-SPCE", Content{Kargs: Edits{Append: []string{strings.Repeat("a", liveiso.KargsSize-len(liveiso.Default)-1)}}}},
		"replaced by the same": {liveiso.Y2023, "", Content{Kargs: Edits{Replace: []string{"ignition.platform.id=metal=metal"}}}},
		"just room":            {liveiso.Y2023, "", Content{Kargs: Edits{Append: []string{strings.Repeat("a", liveiso.KargsSize-len(liveiso.Default)-2)}}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mustRead(t, liveiso.Make(test.kind, false)).Fill(test.content, false)
			if test.code != "" || err != nil {
				wantCode(t, err, test.code)
			}
		})
	}
	roomy := mustRead(t, liveiso.Make(liveiso.Y2023, false)) // what fits when it is compressed, but would not be read again
	roomy.Ignition.Length = 1 << 20
	if _, err := roomy.Fill(Content{Ignition: bytes.Repeat([]byte(" "), maxUnpacked)}, false); err == nil || !strings.Contains(err.Error(), "more than 4 MiB") {
		t.Errorf("a config of 4 MiB: %v", err)
	}
}

// TestSecretsInKernelArgumentsAreNotTold: the URL of a config can have a password.
func TestSecretsInKernelArgumentsAreNotTold(t *testing.T) {
	for args, want := range map[string]string{
		"a  b=c":                      "a  b=c",
		"u=https://u:planted@h/p b":   "u=https://h/p b",
		"u=https://h/p?t=planted":     "u=https://h/p",
		"u=https://u:plant,@h:8/p":    "u=https://h:8/p",
		"u=https://u:%zzplanted@h/p":  "u=(not a URL)",
		"u=https://h,ftp://u:plant@h": "u=(URLs)",
	} {
		if got := ShownArgs(args); got != want {
			t.Errorf("%q is shown as %q", args, got)
		}
	}
	image := liveiso.Make(liveiso.Y2023, false)
	const arg = "u=https://u:planted@example.com/a"
	_, full := filled(t, image, Content{Kargs: Edits{Append: []string{arg}}}, false)
	_, err := full.Fill(Content{Ignition: config}, false)
	errs := []error{err}
	for _, e := range []Edits{{Delete: []string{arg}}, {Append: []string{"u=https://u:x planted@h/"}}, {Replace: []string{arg + "=planted"}}, {Replace: []string{arg}}} {
		_, err := mustRead(t, image).Fill(Content{Kargs: e}, false)
		errs = append(errs, err)
	}
	for n, err := range errs {
		if p := problem.From(err); err == nil || strings.Contains(err.Error()+p.Summary.String()+p.Fix.String(), "planted") {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// TestConfigs: Ignition's own library judges, what is fetched in the open needs a hash, and nothing secret is told.
func TestConfigs(t *testing.T) {
	with := func(file string) []byte {
		return []byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[` + file + `]},"passwd":{"users":[{"name":"core","passwordHash":"planted"}]},"systemd":{"units":[{"name":"a.service","enabled":true,"contents":"planted"}]}}`)
	}
	for _, test := range []struct {
		text []byte
		code string
	}{
		{config, ""},
		{with(`{"path":"/usr/local/bin/a","contents":{"source":"https://u:planted@example.com/a?token=planted"}}`), ""},
		{with(`{"path":"/a","contents":{"source":"http://example.com/a","verification":{"hash":"sha256-` + strings.Repeat("0a", 32) + `"}}}`), ""},
		{with(`{"path":"/a","contents":{"source":"http://u:planted@example.com/a"}}`), "LVE-HASH"},
		{with(`{"path":"/a","append":[{"source":"tftp://example.com/a"}]}`), "LVE-HASH"},
		{[]byte(`{"ignition":{"version":"3.4.0","config":{"merge":[{"source":"http://example.com/a"}]}}}`), "LVE-HASH"},
		{[]byte(`{"ignition":{"version":"3.4.0","security":{"tls":{"certificateAuthorities":[{"source":"http://example.com/ca.crt"}]}}}}`), "LVE-HASH"},
		{[]byte(`{"ignition":{"version":"3.4.0","config":{"replace":{"source":"http://example.com/a"}}}}`), "LVE-HASH"},
		{with(`{"path":"relative"}`), "LVE-GNTN"},
		{[]byte(`{"ignition":{"version":"3.4.0"},"systemd":{"units":[{"name":"a.service","contents":"[Service] planted\n"}]}}`), "LVE-GNTN"},
		{with(`{"path":"/a","contents":{"verification":{"hash":"sha256-00"}}}`), "LVE-GNTN"},
		{[]byte(`{"ignition":{"version":"2.2.0"}}`), "LVE-GNTN"},
		{[]byte(`{"ignition":{"version":"9.0.0"}}`), "LVE-GNTN"},
		{[]byte("variant: fcos"), "LVE-GNTN"},
		{nil, "LVE-GNTN"},
	} {
		err := CheckConfig(test.text)
		if test.code != "" || err != nil {
			wantCode(t, err, test.code)
		}
		if err != nil && strings.Contains(err.Error(), "planted") {
			t.Errorf("a secret is told: %v", err)
		}
	}
	c, err := ReadConfig(with(`{"path":"/usr/local/bin/a","mode":493,"contents":{"source":"https://u:planted@example.com/a?token=planted"}},{"path":"/b","contents":{"source":"data:,planted"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []ConfigFile{{"/usr/local/bin/a", "0755", "https://example.com/a", ""}, {"/b", "", "inline", ""}}
	if c.Version != "3.2.0" || !slices.Equal(c.Files, want) || !slices.Equal(c.Users, []string{"core"}) || !slices.Equal(c.Units, []ConfigUnit{{"a.service", true}}) {
		t.Errorf("%+v", c)
	}
}

// TestAnImageOfXorrisoIsFilled fills an image that another program made, with Joliet and Rock Ridge, and has that program read it.
func TestAnImageOfXorrisoIsFilled(t *testing.T) {
	wait.Program(t, "xorriso")
	dir, out := t.TempDir(), t.TempDir()
	for _, f := range liveiso.Files(liveiso.Y2023) {
		name := filepath.Join(dir, f.Path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		t.Helper()
		if text, err := exec.CommandContext(t.Context(), "xorriso", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
	}
	live, filledISO := filepath.Join(out, "live.iso"), filepath.Join(out, "filled.iso")
	run("-as", "mkisofs", "-quiet", "-R", "-J", "-o", live, dir)
	image, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	got, after := filled(t, image, contentFor(liveiso.Y2023), false)
	if !bytes.Equal(after.Config(), config) || len(after.Kargs.Areas) != 2 {
		t.Errorf("%+v", after)
	}
	if err := os.WriteFile(filledISO, got, 0o600); err != nil {
		t.Fatal(err)
	}
	run("-osirrox", "on", "-indev", filledISO, "-extract", "/", filepath.Join(out, "x"))
	for _, f := range liveiso.Files(liveiso.Y2023) {
		read, err := os.ReadFile(filepath.Join(out, "x", f.Path))
		changed := strings.HasSuffix(f.Path, ".cfg") || f.Path == "images/ignition.img"
		if err != nil || len(read) != len(f.Data) || bytes.Equal(read, f.Data) == changed {
			t.Errorf("%s: changed %t, want %t (%v)", f.Path, !bytes.Equal(read, f.Data), changed, err)
		}
	}
}

// on puts an image into a file.
func on(t *testing.T, image []byte) string {
	name := filepath.Join(t.TempDir(), "live.iso")
	if err := os.WriteFile(name, image, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}
