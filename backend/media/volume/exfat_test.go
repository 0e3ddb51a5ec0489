package volume

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"touchdown/backend/problem"
)

// The places in testdata/exfat.img.gz, which mkfs.exfat made and the driver for FUSE filled (a sector has 512 bytes, a cluster 4096).
func exfatPlaces(b []byte) (table, data, root int64) {
	le := binary.LittleEndian
	return int64(le.Uint32(b[80:])) * 512, int64(le.Uint32(b[88:])) * 512, int64(le.Uint32(b[96:]))
}

// setOf is the place of the entries of a file in the root folder, by the first characters of its name.
func setOf(t *testing.T, b []byte, name string) int {
	t.Helper()
	var wide []byte
	for _, c := range name {
		wide = append(wide, byte(c), 0)
	}
	_, data, root := exfatPlaces(b)
	folder := b[data+(root-2)*4096:][:4096]
	at := bytes.Index(folder, wide)
	if at < 0 {
		t.Fatalf("there is no %s", name)
	}
	return int(data+(root-2)*4096) + at - 2 - 2*entrySize
}

// resum makes the check sum of a changed set of entries right again.
func resum(set []byte) {
	set = set[:(1+int(set[1]))*entrySize]
	binary.LittleEndian.PutUint16(set[2:], setSum(set))
}

// TestExFATIsHeldToItsLimits: what contradicts itself is damaged, and costs no more than a sound volume.
func TestExFATIsHeldToItsLimits(t *testing.T) {
	le := binary.LittleEndian
	for what, spoil := range map[string]func(t *testing.T, b []byte){
		"sectors of 2^40 bytes":     func(_ *testing.T, b []byte) { b[108] = 40 },
		"clusters of 2^34 bytes":    func(_ *testing.T, b []byte) { b[109] = 25 },
		"no table":                  func(_ *testing.T, b []byte) { b[110] = 0 },
		"a second table of one":     func(_ *testing.T, b []byte) { b[106] |= 1 },
		"more clusters than it has": func(_ *testing.T, b []byte) { le.PutUint32(b[92:], 0xffffff00) },
		"a table of no length":      func(_ *testing.T, b []byte) { le.PutUint32(b[84:], 0) },
		"its root folder elsewhere": func(_ *testing.T, b []byte) { le.PutUint32(b[96:], 1<<30) },
		"a check sum that is wrong": func(t *testing.T, b []byte) { b[setOf(t, b, "site-config")+2]++ },
		"a file larger than it": func(t *testing.T, b []byte) {
			at := setOf(t, b, "site-config")
			le.PutUint64(b[at+entrySize+24:], 1<<40)
			resum(b[at:])
		},
		"a file of negative length": func(t *testing.T, b []byte) {
			at := setOf(t, b, "site-config")
			le.PutUint64(b[at+entrySize+24:], 1<<63)
			resum(b[at:])
		},
		"more written than there is": func(t *testing.T, b []byte) {
			at := setOf(t, b, "site-config")
			le.PutUint64(b[at+entrySize+8:], 4000)
			resum(b[at:])
		},
		"a file beyond the end": func(t *testing.T, b []byte) {
			at := setOf(t, b, "site-config")
			le.PutUint32(b[at+entrySize+20:], 1<<31)
			resum(b[at:])
		},
		"two at one place": func(t *testing.T, b []byte) {
			at, other := setOf(t, b, "site-config"), setOf(t, b, "many")
			copy(b[at+entrySize+20:at+entrySize+24], b[other+entrySize+20:])
			resum(b[at:])
		},
		"a folder that is the root": func(t *testing.T, b []byte) {
			_, _, root := exfatPlaces(b)
			at := setOf(t, b, "many")
			le.PutUint32(b[at+entrySize+20:], uint32(root))
			resum(b[at:])
		},
		"a root folder in a circle": func(_ *testing.T, b []byte) {
			table, data, root := exfatPlaces(b)
			le.PutUint32(b[table+4*root:], uint32(root))
			folder := b[data+(root-2)*4096:][:4096]
			for at := 0; at < len(folder); at += entrySize {
				if folder[at] == exfatEnd {
					folder[at] = 0x01 // free, and not the end
				}
			}
		},
		"a chain that leads away": func(t *testing.T, b []byte) {
			table, data, root := exfatPlaces(b)
			le.PutUint32(b[table+4*root:], 0xfffffff7)
			folder := b[data+(root-2)*4096:][:4096]
			for at := 0; at < len(folder); at += entrySize {
				if folder[at] == exfatEnd {
					folder[at] = 0x01
				}
			}
		},
	} {
		b := made(t, "exfat")
		spoil(t, b)
		if _, err := Read(bytes.NewReader(b), int64(len(b)), all); problem.From(err).Code != "MED-BAD" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestExFATBehindWhatWasWritten is 0: a file may be longer than what was written of it.
func TestExFATBehindWhatWasWritten(t *testing.T) {
	b := made(t, "exfat")
	at := setOf(t, b, "site-config")
	binary.LittleEndian.PutUint64(b[at+entrySize+8:], 2)
	resum(b[at:])
	content, err := Read(bytes.NewReader(b), int64(len(b)), all)
	if err != nil || string(content.Find("site-config.yaml").Data) != "a:\x00\x00\x00" {
		t.Errorf("%v, %q", err, content.Find("site-config.yaml").Data)
	}
}

// TestExFATOfEmptyFolders: the specification allows a folder without a cluster, and there may be more of them.
func TestExFATOfEmptyFolders(t *testing.T) {
	b := made(t, "exfat")
	for _, name := range []string{"many", "cluster-conf"} {
		e := b[setOf(t, b, name):]
		clear(e[entrySize+8 : entrySize+16])
		clear(e[entrySize+20 : entrySize+32])
		resum(e)
	}
	content, err := Read(bytes.NewReader(b), int64(len(b)), all)
	if err != nil || content.Find("site-config.yaml") == nil || content.Find("cluster-configuration/manifest.json") != nil {
		t.Errorf("%v, %+v", err, content)
	}
}

// TestExFATIsNotWrittenTo: the refusal says what to do.
func TestExFATIsNotWrittenTo(t *testing.T) {
	b := made(t, "exfat")
	_, err := Add(bounded{patched{base: b}, t}, int64(len(b)), reports())
	if p := problem.From(err); p.Code != "MED-EXFT" || !strings.Contains(p.Fix.String(), "FAT32") || !bytes.Equal(b, made(t, "exfat")) {
		t.Errorf("%v", err)
	}
}
