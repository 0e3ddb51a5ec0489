package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc64"
	"io"
	"sync"
	"sync/atomic"

	"touchdown/backend/message"

	"github.com/vbatts/tar-split/tar/storage"
	"golang.org/x/sys/unix"
)

// readSize is how much of a file is read at once, bytes.
const readSize = 256 << 10

// tellEvery is after how many bytes the progress is told.
const tellEvery = 64 << 20

// Full puts every layer's tar together again and compares its sha256 with the layer's digest: no byte of a file, a name
// or a header can have changed. The damaged files of a layer are found by a second walk along it, with the checksum that
// tar-split keeps for each. What the cache knows is not read again, and what is whole goes into it: a verification that
// was ended goes on where it was.
func (s *Store) Full(ctx context.Context, o VerifyOptions) ([]Damage, error) {
	v := &verification{walk: walk{s, o}, buffers: sync.Pool{New: func() any { b := make([]byte, readSize); return &b }}}
	ids, _ := v.toVerify()
	v.layers = len(ids)
	for _, id := range ids {
		l, _ := s.Layer(id)
		v.total += max(l.DiffSize, 0)
	}
	found, err := v.each(ctx, v.layer)
	if err != nil {
		return nil, err
	}
	return append(s.imageFiles(true), found...), nil
}

type verification struct {
	walk
	buffers      sync.Pool
	layers       int
	total        int64
	done         atomic.Int64
	bytes        atomic.Int64
	progressLock sync.Mutex
}

// layer verifies one layer.
func (v *verification) layer(ctx context.Context, id string) ([]Damage, error) {
	l, _ := v.store.Layer(id)
	cached := v.options.Cache.has(v.store, l)
	var found []Damage
	var err error
	if cached {
		v.bytes.Add(max(l.DiffSize, 0))
	} else if found, err = v.hash(ctx, l); err != nil {
		return nil, err
	}
	found = append(v.beside(id), found...)
	v.done.Add(1)
	v.progress()
	if len(found) > 0 || cached {
		return found, nil
	}
	return nil, v.options.Cache.put(v.store, l)
}

func (v *verification) progress() {
	if v.options.Progress == nil {
		return
	}
	v.progressLock.Lock()
	defer v.progressLock.Unlock()
	v.options.Progress(Copied{
		Layers: int(v.done.Load()), LayersTotal: v.layers, Bytes: min(v.bytes.Load(), v.total), BytesTotal: v.total,
	})
}

func (v *verification) hash(ctx context.Context, l Layer) ([]Damage, error) {
	if l.DiffDigest == "" {
		return []Damage{{
			Layer: l.ID, File: LayersJSON, What: message.F("layer %s has no digest of its content: it was pulled in part and cannot be verified", l.ID),
		}}, nil
	}
	sum := &summing{v: v, ctx: ctx, hash: sha256.New(), limit: l.DiffSize}
	p := &pass{id: l.ID, content: sum.file, raw: func(b []byte) { sum.add(b) }}
	if err := v.pass(ctx, p); err != nil {
		return nil, err
	}
	if len(p.found) == 0 && "sha256:"+hex.EncodeToString(sum.hash.Sum(nil)) == l.DiffDigest {
		return nil, nil
	}
	p = &pass{id: l.ID, content: sum.check}
	if err := v.pass(ctx, p); err != nil {
		return nil, err
	}
	if len(p.found) == 0 {
		p.damage(layersDir+"/"+l.ID+splitSuffix, message.T("with it the layer does not have its digest, and no file of the layer differs"))
	}
	return p.found, nil
}

// summing reads files and sums them up.
type summing struct {
	v     *verification
	ctx   context.Context //nolint:containedctx // lives for one walk
	hash  hash.Hash
	limit int64 // bytes of the whole tar; 0 or less: not known
	count int64
	told  int64
}

func (s *summing) add(b []byte) {
	s.count += int64(len(b))
	_, _ = s.hash.Write(b)
	s.v.bytes.Add(int64(len(b)))
	if s.told += int64(len(b)); s.told >= tellEvery {
		s.told = 0
		s.v.progress()
	}
}

// file adds a file to the sum of the layer.
func (s *summing) file(in int, e storage.Entry) (message.Text, error) {
	if s.limit > 0 && s.count+e.Size > s.limit {
		return message.T("it is longer than the layer"), nil
	}
	return s.read(in, e, s.add)
}

// check compares a file with its own checksum.
func (s *summing) check(in int, e storage.Entry) (message.Text, error) {
	sum := crc64.New(storage.CRCTable)
	what, err := s.read(in, e, func(b []byte) { _, _ = sum.Write(b) })
	if what == none && err == nil && string(sum.Sum(nil)) != string(e.Payload) {
		what = message.T("its content has changed")
	}
	return what, err
}

// read gives exactly so many bytes of a file as the tar has; the file may grow or shrink meanwhile.
func (s *summing) read(in int, e storage.Entry, each func([]byte)) (message.Text, error) {
	buf, _ := s.v.buffers.Get().(*[]byte)
	defer s.v.buffers.Put(buf)
	for left := e.Size; left > 0; {
		if err := s.ctx.Err(); err != nil {
			return none, context.Cause(s.ctx)
		}
		n, err := unix.Read(in, (*buf)[:min(left, readSize)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return message.F("it cannot be read after %d bytes: %s", e.Size-left, message.Detail(err)), nil
		}
		each((*buf)[:n])
		left -= int64(n)
	}
	return none, nil
}
