package volume

import (
	"encoding/binary"
	"fmt"

	"touchdown/backend/message"
)

// exfat reads exFAT, which sticks of 64 GB and more have when they are sold, as Microsoft's specification ("exFAT file system
// specification", 1.00) has it. Nothing is written to it. No maintained library for Go reads it safely from hostile media.
type exfat struct {
	table    blocks
	tableAt  int64 // offset of the table in use
	data     int64 // offset of cluster 2
	cluster  int64 // bytes of a cluster, 32 MiB at most
	clusters int64 // how many there are; they are numbered from 2
	rootAt   int64 // first cluster of the root folder

	streams map[int64]stream // of the files and folders that were listed, by their first cluster
	empty   int64            // how many of them have no bytes, and no cluster
}

// stream is where the bytes of a file or folder are.
type stream struct {
	first, bytes int64
	valid        int64 // bytes that were written; what is behind them is 0
	plain        bool  // its clusters lie one behind the other, and the table says nothing of them
	open         bool  // it ends with its chain: the root folder
}

// exfatPiece is how much is read of a cluster at once, in bytes.
const exfatPiece = 64 << 10

func openExFAT(s *source, sector []byte) (system, error) {
	le := binary.LittleEndian
	shift, perCluster := sector[108], sector[109]
	if shift < 9 || shift > 12 || perCluster > 25-shift {
		return nil, damaged(message.F("its clusters have 2^%d sectors of 2^%d bytes", perCluster, shift))
	}
	bytes := func(at int) int64 { return int64(le.Uint32(sector[at:])) << shift }
	x := &exfat{
		table: blocks{from: s, at: -1}, tableAt: bytes(80), data: bytes(88), cluster: 1 << (shift + perCluster),
		clusters: int64(le.Uint32(sector[92:])), rootAt: int64(le.Uint32(sector[96:])), streams: map[int64]stream{},
	}
	tableLen, tables, second := bytes(84), sector[110], sector[106]&1 != 0
	switch {
	case tables < 1 || tables > 2 || second && tables == 1:
		return nil, damaged(message.F("it has %d tables", tables))
	case x.tableAt == 0 || x.tableAt+int64(tables)*tableLen > x.data || tableLen/4 < x.clusters+2:
		return nil, damaged(message.F("its table has no place for %d clusters", x.clusters))
	case x.data+x.clusters*x.cluster > s.size:
		return nil, damaged(message.F("it says that it has %d bytes, but the device has %d", x.data+x.clusters*x.cluster, s.size))
	case !x.has(x.rootAt):
		return nil, damaged(message.F("its root folder is at cluster %d of %d", x.rootAt, x.clusters))
	}
	if second {
		x.tableAt += tableLen
	}
	return x, nil
}

func (x *exfat) kind() string { return ExFAT }

func (x *exfat) root() node { return node{folder: true, start: x.rootAt} }

func (x *exfat) has(cluster int64) bool { return cluster >= 2 && cluster < x.clusters+2 }

// next returns the cluster behind another one, or 0 at the end of a chain.
func (x *exfat) next(cluster int64) (int64, error) {
	var entry [4]byte
	for i := range entry {
		b, err := x.table.byte(x.tableAt + 4*cluster + int64(i))
		if err != nil {
			return 0, err
		}
		entry[i] = b
	}
	value := binary.LittleEndian.Uint32(entry[:])
	if value == 0xffffffff {
		return 0, nil
	}
	if !x.has(int64(value)) {
		return 0, damaged(message.F("a chain of its clusters leads to cluster %d of %d", value, x.clusters))
	}
	return int64(value), nil
}

// each gives the bytes of a stream to take, a piece at a time, until there are no more or take wants no more.
func (x *exfat) each(s stream, take func([]byte) (more bool, err error)) error {
	cluster := s.first
	for at := int64(0); at < s.bytes; {
		in := at % x.cluster
		if in == 0 && at > 0 {
			var err error
			if cluster, err = x.behind(cluster, s); err != nil {
				return err
			}
			switch {
			case cluster == 0 && s.open:
				return nil
			case cluster == 0:
				return damaged(message.F("a file of %d bytes ends after %d", s.bytes, at))
			}
		}
		if !x.has(cluster) {
			return damaged(message.F("a file or folder is at cluster %d of %d", cluster, x.clusters))
		}
		n := min(exfatPiece, x.cluster-in, s.bytes-at)
		piece := make([]byte, n)
		if written := min(n, s.valid-at); written > 0 {
			b, err := x.table.from.at(x.data+(cluster-2)*x.cluster+in, written)
			if err != nil {
				return err
			}
			copy(piece, b)
		}
		if more, err := take(piece); err != nil || !more {
			return err
		}
		at += n
	}
	return nil
}

// behind returns the cluster behind another one of a stream, or 0 at the end of its chain.
func (x *exfat) behind(cluster int64, s stream) (int64, error) {
	if s.plain {
		return cluster + 1, nil
	}
	return x.next(cluster)
}

func (x *exfat) read(file node, take func([]byte) error) error {
	if file.size == 0 {
		return nil
	}
	err := x.each(x.streams[file.start], func(b []byte) (bool, error) { return true, take(b) })
	if err != nil {
		return fmt.Errorf("reading %s: %w", file.name, err)
	}
	return nil
}
