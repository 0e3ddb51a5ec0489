package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"touchdown/backend/message"

	"github.com/vbatts/tar-split/tar/storage"
	"golang.org/x/sys/unix"
)

const (
	whiteout = ".wh."         // before the name of a file that a layer takes away
	metadata = ".wh..wh."     // before names that are never unpacked
	opaque   = ".wh..wh..opq" // in a folder that hides what is below it
)

// quickLayer compares one layer's folder with what is known of it.
func (w walk) quickLayer(ctx context.Context, id string) ([]Damage, error) {
	found := w.beside(id)
	p := &pass{id: id}
	err := w.pass(ctx, p)
	return append(found, p.found...), err
}

// beside verifies what lies beside the files of a layer.
func (w walk) beside(id string) []Damage {
	var found []Damage
	add := func(file string, what message.Text) {
		found = append(found, Damage{Layer: id, File: filepath.Join(Overlay, file), What: what})
	}
	link, err := w.store.files().link(id)
	if err != nil {
		add(id+"/link", message.Detail(err))
	} else if _, err := os.Lstat(filepath.Join(w.store.Root, Overlay, linksDir, link)); err != nil {
		add(linksDir+"/"+link, message.F("the short name of layer %s is lost", id))
	}
	lower, err := w.store.files().lower(id)
	if err != nil {
		add(id+"/lower", message.Detail(err))
	} else if want, known := w.wantLower(id); known && lower != want {
		add(id+"/lower", message.T("it does not name the ancestors of the layer"))
	}
	return found
}

// wantLower is what must be written of a layer's ancestors, where all of it is known here.
func (w walk) wantLower(id string) (string, bool) {
	l, _ := w.store.Layer(id)
	if l.Parent == "" {
		return "", true
	}
	if _, known := w.store.Layer(l.Parent); !known {
		return "", false
	}
	link, err := w.store.files().link(l.Parent)
	if err != nil {
		return "", false // told of with the parent
	}
	above, err := w.store.files().lower(l.Parent)
	if err != nil {
		return "", false
	}
	want := linksDir + "/" + link
	if above != "" {
		want += ":" + above
	}
	return want, true
}

// pass is one walk along a layer's tar-split.
type pass struct {
	id      string
	content func(fd int, e storage.Entry) (message.Text, error) // reads a file, tells what is wrong; nil: files are not read
	raw     func([]byte)                                        // gets what belongs to no file; may be nil
	tick    func(bytes int64)                                   // may be nil

	files  *walker
	header header
	found  []Damage
}

func (p *pass) damage(file string, what message.Text) {
	p.found = append(p.found, Damage{Layer: p.id, File: file, What: what})
}

// pass walks along a layer's tar-split and compares each file with it.
func (w walk) pass(ctx context.Context, p *pass) error {
	name := filepath.Join(layersDir, p.id+splitSuffix)
	in, err := w.store.files().openSplit(p.id)
	if err != nil {
		p.damage(name, message.F("it cannot be read: %s", message.Detail(err)))
		return nil
	}
	defer in.close()
	if p.files, err = newWalker(filepath.Join(w.store.files().layerPath(p.id), "diff")); err != nil {
		p.damage(inDiff(p.id, ""), message.Detail(errors.Unwrap(err)))
		return nil
	}
	defer p.files.close()
	for n := 0; ; n++ {
		e, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			p.found = nil // what a damaged list says of files is no word about the files
			p.damage(name, message.Detail(err))
			return nil
		}
		if n%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.entry(e); err != nil {
			return err
		}
	}
}

func (p *pass) entry(e storage.Entry) error {
	if e.Type == storage.SegmentType {
		p.header.segment(e.Payload)
		if p.raw != nil {
			p.raw(e.Payload)
		}
		return nil
	}
	name, ok := inside(e.GetName())
	if !ok {
		p.damage(filepath.Join(layersDir, p.id+splitSuffix), message.F("it names %.80q, which leads out of the layer", e.GetName()))
		p.header.file(e.Size)
		return nil
	}
	what, err := p.file(name, e)
	p.header.file(e.Size)
	if what != none {
		p.damage(inDiff(p.id, name), what)
	}
	return err
}

// file compares one file with its header, and reads it where that is asked for.
func (p *pass) file(name string, e storage.Entry) (message.Text, error) {
	base := path.Base(name)
	switch {
	case base == opaque:
		return p.opaque(path.Dir(name)), nil
	case strings.HasPrefix(base, metadata):
		return none, nil
	case strings.HasPrefix(base, whiteout):
		return p.whiteout(path.Join(path.Dir(name), strings.TrimPrefix(base, whiteout))), nil
	}
	dir, base, err := p.files.at(name)
	if err != nil {
		return reason(err), nil
	}
	st, err := lstat(dir, base)
	if err != nil {
		return reason(err), nil
	}
	if what := p.differs(dir, base, &st, e); what != none || e.Size == 0 || p.content == nil {
		return what, nil
	}
	fd, err := openFile(dir, base)
	if err != nil {
		return reason(err), nil
	}
	defer shut(fd)
	return p.content(fd, e)
}

// differs compares type and size, and where a link leads to.
func (p *pass) differs(dir int, base string, st *unix.Stat_t, e storage.Entry) message.Text {
	kind, format := p.header.kind(), st.Mode&unix.S_IFMT
	if e.Size > 0 && format != unix.S_IFREG {
		return message.T("it is not a file")
	}
	want := uint32(0)
	switch kind {
	case '0', '7':
		want = unix.S_IFREG
		if strings.HasSuffix(e.GetName(), "/") {
			want = unix.S_IFDIR // as old tars write it
		}
	case '2':
		want = unix.S_IFLNK
	case '3':
		want = unix.S_IFCHR
	case '4':
		want = unix.S_IFBLK
	case '5':
		want = unix.S_IFDIR
	case '6':
		want = unix.S_IFIFO
	}
	if want != 0 && format != want {
		return message.T("it is of another type")
	}
	if want == unix.S_IFREG && st.Size != e.Size || e.Size > 0 && st.Size != e.Size {
		return message.F("it has %d bytes instead of %d", st.Size, e.Size)
	}
	if want == unix.S_IFLNK {
		if target, told := p.header.target(); told {
			if is, err := readlink(dir, base); err != nil || is != target {
				return message.T("it leads elsewhere")
			}
		}
	}
	return none
}

// whiteout is a device 0:0, unless its own folder was taken away by the same layer, or the name came back.
func (p *pass) whiteout(name string) message.Text {
	dir, base, err := p.files.at(name)
	if err == nil {
		_, err = lstat(dir, base)
	}
	if err == nil || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return none
	}
	return reason(err)
}

func (p *pass) opaque(dir string) message.Text {
	at, base, err := p.files.at(dir)
	if dir == "." {
		at, base, err = p.files.fds[0], ".", nil
	}
	if err != nil {
		return reason(err)
	}
	value := make([]byte, 8)
	if n, err := unix.Lgetxattr(inFolder(at, base), "trusted.overlay.opaque", value); err != nil || string(value[:n]) != "y" {
		return message.T("the folder does not hide what is below it")
	}
	return none
}

// reason is what the kernel says, in plain words.
func reason(err error) message.Text {
	if errors.Is(err, unix.ENOENT) {
		return message.T("it is missing")
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return message.F("it cannot be read: %s", message.Detail(err))
}
