package volume

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"touchdown/backend/problem"
)

// pulled is a device that is taken out: it gives nothing behind some bytes.
type pulled struct {
	io.ReaderAt
	at int64
}

func (p pulled) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > p.at {
		return 0, errors.New("input/output error")
	}
	return p.ReaderAt.ReadAt(b, at) // it is the device's
}

// copied is a file of a volume, and the code of the problem ("none": there is no such file).
func copied(device io.ReaderAt, size int64, name string, most int64) (data []byte, code string) {
	err := Copy(device, size, name, most, func(part []byte) error { data = append(data, part...); return nil })
	switch {
	case errors.Is(err, os.ErrNotExist):
		return data, "none"
	case err != nil:
		return data, problem.From(err).Code
	}
	return data, ""
}

// TestCopy: a file that is larger than Read gives comes whole, from FAT and ISO9660, or not at all.
func TestCopy(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcde\n"), 3<<20/16)
	large = append(large, "the end"...)
	image, err := WriteLargeISO("TOUCHDOWN", 4<<20, []File{{"SHA256SUMS", []byte("sums")}, {"touchdown", large}})
	if err != nil {
		t.Fatal(err)
	}
	iso := append(image.Head, make([]byte, image.Size-int64(len(image.Head)))...)
	if image, err = WriteFAT("STICK", []File{{"touchdown", large[:MaxFile]}, {"empty", nil}}); err != nil {
		t.Fatal(err)
	}
	fat := append(image.Head, make([]byte, image.Size-int64(len(image.Head)))...)
	huge := bytes.Clone(fat)
	at := bytes.Index(huge, []byte("FILE~000"))
	copy(huge[at+28:], "\xff\xff\xff\xff") // 4 GiB
	long := bytes.Clone(fat)
	copy(long[at+28:], "\x01\x00\x20\x00") // a byte more than there is
	if image, err = WriteISO("TOUCHDOWN", []File{{"touchdowx", []byte("one")}, {"touchdown", []byte("two")}}); err != nil {
		t.Fatal(err)
	}
	twice := bytes.ReplaceAll(image.Head, wide("touchdowx"), wide("TOUCHDOWN"))
	for name, c := range map[string]struct {
		device io.ReaderAt
		size   int
		file   string
		most   int64
		want   []byte
		code   string
	}{
		"iso":                  {bytes.NewReader(iso), len(iso), "touchdown", 4 << 20, large, ""},
		"fat":                  {bytes.NewReader(fat), len(fat), "TOUCHDOWN", 4 << 20, large[:MaxFile], ""},
		"an empty file":        {bytes.NewReader(fat), len(fat), "empty", 10, nil, ""},
		"no file":              {bytes.NewReader(fat), len(fat), "none", 4 << 20, nil, "none"},
		"no volume":            {bytes.NewReader(make([]byte, 1<<20)), 1 << 20, "touchdown", 4 << 20, nil, "MED-KND"},
		"larger than it may":   {bytes.NewReader(iso), len(iso), "touchdown", int64(len(large)) - 1, nil, "MED-LRGE"},
		"4 GiB":                {bytes.NewReader(huge), len(huge), "touchdown", 128 << 20, nil, "MED-LRGE"},
		"4 GiB that may be":    {bytes.NewReader(huge), len(huge), "touchdown", 5 << 30, nil, "MED-BAD"},
		"its chain ends early": {bytes.NewReader(long), len(long), "touchdown", 128 << 20, nil, "MED-BAD"},
		"a cut image":          {bytes.NewReader(iso), len(iso) / 2, "touchdown", 4 << 20, nil, "MED-BAD"},
		"taken out, iso":       {pulled{bytes.NewReader(iso), 2 << 20}, len(iso), "touchdown", 4 << 20, nil, "MED-READ"},
		"taken out, fat":       {pulled{bytes.NewReader(fat), 1 << 20}, len(fat), "touchdown", 4 << 20, nil, "MED-READ"},
		"the name twice":       {bytes.NewReader(twice), len(twice), "touchdown", 4 << 20, nil, "MED-BAD"},
		"a folder":             {bytes.NewReader(made(t, "fat16")), len(made(t, "fat16")), "cluster-configuration", 4 << 20, nil, "none"},
	} {
		data, code := copied(c.device, int64(c.size), c.file, c.most)
		if code != c.code || code == "" && !bytes.Equal(data, c.want) {
			t.Errorf("%s: %d bytes, %q, want %d and %q", name, len(data), code, len(c.want), c.code)
		}
	}
}
