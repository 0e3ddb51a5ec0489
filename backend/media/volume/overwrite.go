package volume

import (
	"encoding/binary"
	"slices"
	"strings"

	"touchdown/backend/message"
)

// HeadSize is how much of a file Overwrite overwrites last, in bytes: what a cut left of the file is known by it.
const HeadSize = sector

// Overwrite writes zeros over the clusters of a file in the root folder of a FAT volume, takes its entries away and frees the clusters.
// Its first HeadSize bytes go after all others, and its entries after these: after a cut at any moment the file is whole at its head, or
// all zeros, or gone, and what else is there is unchanged. It tells whether the file was there, and fails with a *problem.Problem.
// A flash medium may keep copies of what is overwritten.
func Overwrite(device Device, size int64, name string) (found bool, err error) {
	a, err := openToAdd(device, size)
	if err != nil {
		return false, err
	}
	first, length, hide, err := a.hiding(name)
	if err != nil || hide == nil {
		return false, err
	}
	chain, err := a.whole(first, length)
	if err != nil {
		return false, err
	}
	var all [][]patch
	if len(chain) > 0 {
		var rest []patch
		zeros := make([]byte, a.cluster)
		for i, cluster := range chain {
			p := patch{a.fat.data + (cluster-2)*a.cluster, zeros}
			if i == 0 {
				all = [][]patch{{{p.at, zeros[:sector]}}}
				p = patch{p.at + sector, zeros[sector:]}
			}
			rest = append(rest, p)
		}
		all = append([][]patch{rest}, all...)
	}
	for _, p := range hide {
		all = append(all, []patch{p})
	}
	if a.unlike { // which table counts is not known: the clusters stay taken
		return true, a.inOrder(all)
	}
	for _, cluster := range chain {
		if err := a.chainTo(cluster, 0); err != nil {
			return false, err
		}
	}
	return true, a.inOrder(append(all, append(a.tables(), a.uncounted()...)))
}

// hiding finds a file in the root folder: its first cluster, its length in bytes, and the sectors that take it off the folder, the one with its own entry
// first; none where it is not there.
func (a *adding) hiding(name string) (first, length int64, hide []patch, err error) {
	folder, err := a.rootSectors()
	if err != nil {
		return 0, 0, nil, err
	}
	var long longName
	var of []int // the entries that hold the long name, counted from the folder's beginning
	for i := range len(folder) * sector / entrySize {
		e := entryOf(folder, i)
		switch {
		case e[0] == 0:
			return 0, 0, nil, nil
		case e[0] == deleted:
			long, of = longName{}, nil
		case e[11]&attrMask == attrLong:
			long.add(e)
			of = append(of, i)
		default:
			is := long.take(e)
			if is == "" {
				is, of = shortName(e, false), nil
			}
			if e[11]&attrAny == 0 && strings.EqualFold(is, name) {
				return a.firstOf(e), int64(binary.LittleEndian.Uint32(e[28:])), hidden(folder, append([]int{i}, of...)), nil
			}
			of = nil
		}
	}
	return 0, 0, nil, nil
}

// entryOf is an entry of a folder, by its number.
func entryOf(folder []patch, i int) []byte {
	const each = sector / entrySize
	return folder[i/each].data[i%each*entrySize:][:entrySize]
}

// hidden are the sectors of a folder without some entries, in the order in which these are named.
func hidden(folder []patch, entries []int) (all []patch) {
	const each = sector / entrySize
	for _, i := range entries {
		clear(entryOf(folder, i))
		entryOf(folder, i)[0] = deleted
		p := folder[i/each]
		if !slices.ContainsFunc(all, func(o patch) bool { return o.at == p.at }) {
			all = append(all, p)
		}
	}
	return all
}

// firstOf is the first cluster of an entry.
func (f *fat) firstOf(e []byte) int64 {
	start := int64(binary.LittleEndian.Uint16(e[26:]))
	if f.bits == 32 {
		start |= int64(binary.LittleEndian.Uint16(e[20:])) << 16
	}
	return start
}

// whole are the clusters of a file, from its first one, as many as its length takes; none for an empty file. What follows them in a table
// that is damaged may be another file's.
func (a *adding) whole(cluster, length int64) (chain []int64, err error) {
	if length > MaxFile {
		return nil, damaged(message.F("a file has %d bytes", length))
	}
	for seen := map[int64]bool{}; int64(len(chain))*a.cluster < length; {
		if !a.has(cluster) || seen[cluster] {
			return nil, damaged(message.F("a file leads to cluster %d of %d, or ends too early", cluster, a.clusters))
		}
		seen[cluster] = true
		chain = append(chain, cluster)
		if cluster, err = a.next(cluster); err != nil {
			return nil, err
		}
	}
	return chain, nil
}
