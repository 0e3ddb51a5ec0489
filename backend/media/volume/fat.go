package volume

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"touchdown/backend/message"
)

// fat reads FAT12, FAT16 and FAT32 as Microsoft's specification (fatgen103) has them. The libraries for Go load the whole table
// into memory, however large the first sector says it is, and follow a chain of clusters that leads back into itself for ever.
type fat struct {
	from      *source
	bits      int   // of an entry of the table: 12, 16 or 32
	table     int64 // offset of the first table
	tableEnd  int64
	tablesEnd int64 // of all tables, which are copies of the first
	info      int64 // offset of the sector with the number of free clusters of FAT32; 0 for none
	unlike    bool  // only one of the tables is in use
	fixed     int64 // offset of the root folder of FAT12 and FAT16; 0 with FAT32
	fixedLen  int64
	rootAt    int64 // first cluster of the root folder of FAT32
	data      int64 // offset of cluster 2
	sector    int64 // bytes
	cluster   int64 // bytes of a cluster
	clusters  int64 // how many there are; they are numbered from 2
	name      string
	blocks    blocks // of the table
}

func (f *fat) kind() string { return FAT }

func (f *fat) label() string {
	// The label in the root folder is the one that systems show and change.
	if entries, err := f.entries(f.root()); err == nil {
		for _, e := range entries {
			if e[11]&attrAny == attrLabel {
				return shortName(e, true)
			}
		}
	}
	return f.name
}

func openFAT(s *source, sector []byte) (system, error) {
	le := binary.LittleEndian
	sectorSize := int64(le.Uint16(sector[11:]))
	perCluster := int64(sector[13])
	reserved, tables, rootEntries := int64(le.Uint16(sector[14:])), int64(sector[16]), int64(le.Uint16(sector[17:]))
	total, tableLen := int64(le.Uint16(sector[19:])), int64(le.Uint16(sector[22:]))
	if total == 0 {
		total = int64(le.Uint32(sector[32:]))
	}
	wide := tableLen == 0
	if wide {
		tableLen = int64(le.Uint32(sector[36:]))
	}
	switch {
	case sectorSize < 512 || sectorSize > 4096 || bits.OnesCount64(uint64(sectorSize)) != 1:
		return nil, unread(message.T("has no file system that Touchdown knows"), message.T(remake))
	case bits.OnesCount64(uint64(perCluster)) != 1 || sectorSize*perCluster > 64<<10:
		return nil, damaged(message.F("its clusters have %d sectors of %d bytes", perCluster, sectorSize))
	case reserved == 0 || tables == 0 || tables > 2 || tableLen == 0:
		return nil, damaged(message.F("it has %d tables of %d sectors behind %d", tables, tableLen, reserved))
	case total*sectorSize > s.size:
		return nil, damaged(message.F("it says that it has %d bytes, but the device has %d", total*sectorSize, s.size))
	}
	f := &fat{from: s, sector: sectorSize, cluster: sectorSize * perCluster, table: reserved * sectorSize, blocks: blocks{from: s, at: -1}}
	f.tableEnd = f.table + tableLen*sectorSize
	f.tablesEnd = f.table + tables*tableLen*sectorSize
	f.fixed = f.tablesEnd
	f.fixedLen = rootEntries * entrySize
	f.data = f.fixed + (f.fixedLen+sectorSize-1)/sectorSize*sectorSize
	f.clusters = (total*sectorSize - f.data) / f.cluster
	return f, f.choose(sector, wide)
}

// choose tells FAT32 from FAT16 and FAT12 as Linux does, and checks what depends on that.
func (f *fat) choose(sector []byte, wide bool) error {
	nameAt := 43
	switch {
	case f.clusters < 1:
		return damaged(message.T("it has no room for files"))
	case wide:
		f.bits, nameAt, f.rootAt = 32, 71, int64(binary.LittleEndian.Uint32(sector[44:]))
		if f.fixedLen != 0 || !f.has(f.rootAt) {
			return damaged(message.F("its root folder is at cluster %d of %d", f.rootAt, f.clusters))
		}
		f.fixed = 0
		f.info, f.unlike = int64(binary.LittleEndian.Uint16(sector[48:]))*f.sector, sector[40]&0x80 != 0
	case f.fixedLen == 0:
		return damaged(message.T("it has no root folder"))
	case f.clusters < 4085:
		f.bits = 12
	default:
		f.bits = 16
	}
	if (f.clusters+2)*int64(f.bits) > (f.tableEnd-f.table)*8 {
		return damaged(message.F("its table has no place for %d clusters", f.clusters))
	}
	if sector[nameAt-5] == 0x29 { // the sector has a name
		f.name = string(sector[nameAt : nameAt+11])
		if f.name == "NO NAME    " {
			f.name = ""
		}
	}
	return nil
}

func (f *fat) has(cluster int64) bool { return cluster >= 2 && cluster < f.clusters+2 }

// next returns the cluster behind another one, or 0 at the end of a chain.
func (f *fat) next(cluster int64) (int64, error) {
	value, err := f.value(cluster)
	if err != nil {
		return 0, err
	}
	if value >= int64(1)<<min(f.bits, 28)-8 {
		return 0, nil
	}
	if !f.has(value) {
		return 0, damaged(message.F("a chain of its clusters leads to cluster %d of %d", value, f.clusters))
	}
	return value, nil
}

// value is a cluster's entry of the table.
func (f *fat) value(cluster int64) (int64, error) {
	bit := cluster * int64(f.bits)
	low, err := f.tableByte(bit / 8)
	if err != nil {
		return 0, err
	}
	value := int64(low)
	for i := int64(1); i < int64(f.bits+7)/8; i++ {
		b, err := f.tableByte(bit/8 + i)
		if err != nil {
			return 0, err
		}
		value |= int64(b) << (8 * i)
	}
	return value >> (bit % 8) & (int64(1)<<min(f.bits, 28) - 1), nil // FAT32 uses 28 of its bits
}

func (f *fat) tableByte(offset int64) (byte, error) { return f.blocks.byte(f.table + offset) }

// chain reads what begins at a cluster, and gives it to take in parts: size bytes of a file, or all of a folder when size is negative.
func (f *fat) chain(cluster, size int64, take func([]byte) error) error {
	limit := size
	if size < 0 {
		limit = maxFolder
	}
	for got := int64(0); got < limit; got += f.cluster {
		if !f.has(cluster) {
			return damaged(message.F("a file or folder is at cluster %d of %d", cluster, f.clusters))
		}
		b, err := f.from.at(f.data+(cluster-2)*f.cluster, f.cluster)
		if err != nil {
			return err
		}
		if err := take(b[:min(f.cluster, limit-got)]); err != nil {
			return err
		}
		if cluster, err = f.next(cluster); err != nil {
			return err
		}
		if cluster == 0 && size < 0 {
			return nil
		}
		if cluster == 0 && got+f.cluster < size {
			return damaged(message.F("a file of %d bytes ends after %d", size, got+f.cluster))
		}
	}
	if size < 0 {
		return damaged(message.F("a folder leads back into itself, or has more than %d MiB", maxFolder>>20))
	}
	return nil
}

func (f *fat) read(file node, take func([]byte) error) error {
	if err := f.chain(file.start, file.size, take); err != nil {
		return fmt.Errorf("reading %s: %w", file.name, err)
	}
	return nil
}
