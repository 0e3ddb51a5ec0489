package iso

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// What the archives of one area may hold. Chosen: 16 times the area of every image so far; base64, of which a config has most, shrinks to three quarters.
const (
	maxUnpacked = 4 << 20
	maxMembers  = 4096 // of one archive, and files of all
	maxArchives = 64   // tools write one; to decompress one takes memory
	maxBlocks   = 256  // of xz, of all archives; coreos-installer makes one of each file, and each takes memory too
)

const (
	cpioMagic   = "070701" // newc, as the kernel reads it (Documentation/driver-api/early-userspace/buffer-format.rst)
	cpioHeader  = 110
	cpioTrailer = "TRAILER!!!"
	kindMask    = 0o170000
	kindFile    = 0o100000
	kindFolder  = 0o040000
)

// pack makes the archive that the kernel of the live system unpacks beside its own. coreos-installer compresses it with xz; the assisted
// installer does so with gzip (openshift/assisted-image-service, pkg/isoeditor/isoutil.go, generateCompressedCPIO), which the standard library has.
func pack(files []File) ([]byte, error) {
	if len(files) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(cpio(files))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compressing the archive: %w", err)
	}
	return out.Bytes(), nil
}

// cpio is the archive of files, each with the folders above it, without which the kernel does not unpack it.
func cpio(files []File) []byte {
	var b []byte
	number := 0
	add := func(name string, mode int, data []byte) {
		number++
		b = fmt.Appendf(b, "%s%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", cpioMagic,
			number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0)
		b = append(append(b, name...), 0)
		b = append(b, make([]byte, -len(b)&3)...)
		b = append(b, data...)
		b = append(b, make([]byte, -len(b)&3)...)
	}
	var made []string
	for _, f := range files {
		parts := strings.Split(path.Dir(f.Path), "/")
		for n := range parts {
			if dir := strings.Join(parts[:n+1], "/"); dir != "." && !slices.Contains(made, dir) {
				made = append(made, dir)
				add(dir, kindFolder|0o755, nil)
			}
		}
		add(f.Path, kindFile|0o600, f.Data)
	}
	add(cpioTrailer, 0, nil)
	return b
}

// unpack reads the files of all archives in an area, which lie one behind the other with zeros between them. Of a file that is
// there twice the last one counts, as for the kernel.
func unpack(area []byte) ([]File, error) {
	var files []File
	left, blocks := int64(maxUnpacked), maxBlocks
	for archives := 0; ; archives++ {
		area = bytes.TrimLeft(area, "\x00")
		if len(area) == 0 {
			return files, nil
		}
		if archives == maxArchives {
			return nil, fmt.Errorf("the Ignition area has more than %d archives", maxArchives)
		}
		archive, rest, err := decompress(area, left, &blocks)
		if err != nil {
			return nil, fmt.Errorf("the archive of the Ignition area: %w", err)
		}
		behind, err := uncpio(archive, &files)
		if err != nil {
			return nil, fmt.Errorf("the archive of the Ignition area: %w", err)
		}
		if rest == nil { // it was not compressed
			area = behind
			continue
		}
		left -= int64(len(archive))
		if len(bytes.Trim(behind, "\x00")) > 0 {
			return nil, errors.New("the archive of the Ignition area has bytes behind its end")
		}
		area = rest
	}
}

// decompress returns the first archive, and what follows it; nil as the rest where it is not compressed.
func decompress(area []byte, limit int64, blocks *int) (archive, rest []byte, err error) {
	switch {
	case bytes.HasPrefix(area, []byte("07070")):
		return area, nil, nil
	case bytes.HasPrefix(area, []byte(xzMagic)):
		return unxz(area, limit, blocks)
	case !bytes.HasPrefix(area, []byte("\x1f\x8b")):
		return nil, nil, fmt.Errorf("it begins with %x, and is compressed neither with gzip nor with xz", area[:min(6, len(area))])
	}
	from := bytes.NewReader(area) // gzip reads it byte by byte, and not beyond what it decompresses
	z, err := gzip.NewReader(from)
	if err == nil {
		z.Multistream(false)
		archive, err = io.ReadAll(io.LimitReader(z, limit+1))
	}
	switch {
	case int64(len(archive)) > limit:
		return nil, nil, tooLarge()
	case err != nil:
		return nil, nil, fmt.Errorf("gzip: %w", err)
	}
	return archive, area[len(area)-from.Len():], nil
}

func tooLarge() error { return fmt.Errorf("it has more than %d MiB", maxUnpacked>>20) }

// uncpio adds the files of one archive, and returns what follows its end.
func uncpio(b []byte, files *[]File) (behind []byte, err error) {
	for at, members := 0, 0; ; members++ {
		if len(b)-at < cpioHeader || members == maxMembers || len(*files) == maxMembers {
			return nil, fmt.Errorf("it has no end, or more than %d files", maxMembers)
		}
		head := string(b[at : at+cpioHeader])
		if head[:6] != cpioMagic && head[:6] != "070702" {
			return nil, errors.New("it is not a cpio archive in the format newc")
		}
		var mode, size, nameSize int64
		for column, into := range map[int]*int64{1: &mode, 6: &size, 11: &nameSize} {
			n, err := strconv.ParseUint(head[6+8*column:14+8*column], 16, 32)
			if err != nil {
				return nil, errors.New("a header of the cpio archive is damaged")
			}
			*into = int64(n)
		}
		start := at + cpioHeader
		if nameSize < 1 || nameSize > 4096 || nameSize > int64(len(b)-start) {
			return nil, errors.New("a name in the cpio archive has no end")
		}
		text, _, _ := strings.Cut(string(b[start:start+int(nameSize)]), "\x00")
		data := (start + int(nameSize) + 3) &^ 3
		if data > len(b) || size > int64(len(b)-data) {
			return nil, fmt.Errorf("the file %.100q is cut off", text)
		}
		at = min((data+int(size)+3)&^3, len(b))
		if text == cpioTrailer {
			return b[at:], nil
		}
		name := path.Clean("/" + text)[1:] // as the kernel, which unpacks into the root folder
		switch mode & kindMask {
		case kindFile:
			*files = slices.DeleteFunc(*files, func(f File) bool { return f.Path == name })
			*files = append(*files, File{name, bytes.Clone(b[data : data+int(size)])})
		case kindFolder:
		default: // the kernel would make it, and nothing here would show it
			return nil, fmt.Errorf("%.100q is neither a file nor a folder", text)
		}
	}
}
