package volume

import "touchdown/backend/message"

// place finds room in the root folder for entries, which have to lie in one sector, and returns what has to be written, in this order:
// the last one shows them, and until then the folder is what it was.
func (a *adding) place(entries []byte) ([]patch, error) {
	folder, err := a.rootSectors()
	if err != nil {
		return nil, err
	}
	for i, s := range folder {
		end := entryAt(s.data, func(first byte) bool { return first == 0 })
		if at := gap(s.data[:end], len(entries)); at >= 0 { // between entries that were deleted
			copy(s.data[at:], entries)
			return []patch{s}, nil
		}
		switch {
		case end == sector:
			continue
		case end+len(entries)+entrySize <= sector: // what is behind the end may be anything
			clear(s.data[end:])
			copy(s.data[end:], entries)
			return []patch{s}, nil
		case i+1 == len(folder) || len(entries)+entrySize > sector:
			return nil, noRoom(message.T("its root folder is full"))
		}
		next := patch{folder[i+1].at, append(entries[:len(entries):len(entries)], make([]byte, sector-len(entries))...)}
		clear(s.data[end:])
		for ; end < sector; end += entrySize {
			s.data[end] = deleted
		}
		return []patch{next, s}, nil
	}
	return nil, noRoom(message.T("its root folder is full"))
}

// gap is where so many bytes of entries that were deleted lie behind each other, or -1.
func gap(s []byte, need int) int {
	from := 0
	for at := 0; at < len(s); at += entrySize {
		if s[at] != deleted {
			from = at + entrySize
		}
		if at+entrySize-from >= need {
			return from
		}
	}
	return -1
}

// entryAt is where the first entry begins whose first byte is as asked for, or the end of the sector.
func entryAt(s []byte, is func(byte) bool) int {
	for at := 0; at < len(s); at += entrySize {
		if is(s[at]) {
			return at
		}
	}
	return len(s)
}

// rootSectors reads the root folder, sector by sector.
func (a *adding) rootSectors() (all []patch, err error) {
	add := func(from, n int64) error {
		b, err := a.from.at(from, n)
		for at := int64(0); err == nil && at+sector <= n; at += sector {
			all = append(all, patch{from + at, b[at : at+sector]})
		}
		return err
	}
	if a.fixed != 0 {
		return all, add(a.fixed, a.fixedLen)
	}
	for cluster := a.rootAt; cluster != 0 && len(all) < maxFolder/sector; {
		if err := add(a.fat.data+(cluster-2)*a.cluster, a.cluster); err != nil {
			return nil, err
		}
		if cluster, err = a.next(cluster); err != nil {
			return nil, err
		}
	}
	return all, nil
}
