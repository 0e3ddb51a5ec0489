package volume

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Device is a volume that is open for reading and writing.
type Device interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
}

// Add adds files to the root folder of a FAT volume, and returns the names that they got: with a number where a name is taken, as
// nothing that is there is overwritten. Data and tables go to free space first; the last write, one sector, makes the files visible. A
// cut at any moment leaves what was there readable. It fails with a *problem.Problem.
func Add(device Device, size int64, files []File) (names []string, err error) {
	if err := judge("LABEL", 11, MaxFile, files); err != nil {
		return nil, unsuited(err)
	}
	a, err := openToAdd(device, size)
	if err != nil {
		return nil, err
	}
	if a.unlike {
		return nil, noRoom(message.T("its tables are not copies of each other"))
	}
	if files, err = a.named(files); err != nil {
		return nil, err
	}
	var entries []byte
	for i, file := range files {
		more, err := a.put(file, i)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
		names = append(names, file.Name)
	}
	show, err := a.place(entries)
	if err != nil {
		return nil, err
	}
	return names, a.write(show)
}

// openToAdd opens a FAT volume for writing.
func openToAdd(device Device, size int64) (*adding, error) {
	system, err := identify(&source{device: device, size: size, left: maxRead})
	if err != nil {
		return nil, err
	}
	f, ok := system.(*fat)
	if !ok {
		return nil, ReadOnly(system.kind())
	}
	return &adding{fat: f, device: device, sectors: map[int64][]byte{}}, nil
}

// Fitting are the files that may be added together, the first ones before the others: none is larger than MaxFile, all of them than
// MaxContent.
func Fitting(files []File) (fit []File) {
	left := MaxContent
	for _, f := range files {
		if len(f.Data) <= min(left, MaxFile) && len(fit) < maxFiles {
			fit = append(fit, f)
			left -= len(f.Data)
		}
	}
	return fit
}

// ReadOnly is the problem of a volume whose file system is read and not written to.
func ReadOnly(kind string) error {
	p := &problem.Problem{
		Code: "MED-CD", Summary: message.T("Nothing can be added to an ISO9660 image."),
		Fix: message.T("Use a stick with FAT (vfat)."),
	}
	if kind == ExFAT { // sticks of 64 GB and more have it when they are sold
		p.Code, p.Summary = "MED-EXFT", message.T("Touchdown reads exFAT and does not write to it.")
		p.Fix = message.T("Use a stick with FAT: format this one as FAT32, or use a smaller one.")
	}
	return p
}

// adding is what is to be written to a volume.
type adding struct {
	*fat
	device  Device
	short   []string         // names of eight and three that are taken, and those that were given
	data    []patch          // into clusters that nothing uses
	sectors map[int64][]byte // of the table, by their offset in it
	free    int64            // the cluster behind the last one that was taken
}

// patch is some bytes at an offset of the volume.
type patch struct {
	at   int64
	data []byte
}

// sector is what is written at once, in bytes: no device writes less.
const sector = 512

// named gives the files names that nothing in the root folder has, all of them with the same number.
func (a *adding) named(files []File) ([]File, error) {
	nodes, more, err := a.list(a.root(), MaxEntries)
	if err != nil {
		return nil, err
	}
	entries, err := a.entries(a.root())
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		a.short = append(a.short, string(e[:11]))
	}
	files = slices.Clone(files)
	for n := 1; !more && n <= MaxEntries; n++ {
		taken := false
		for i, f := range files {
			name, kind, _ := strings.Cut(f.Name, ".")
			if n > 1 {
				name = fmt.Sprintf("%s-%d", strings.TrimSuffix(name, fmt.Sprintf("-%d", n-1)), n)
			}
			files[i].Name = name + "." + kind
			taken = taken || slices.ContainsFunc(nodes, func(is node) bool { return strings.EqualFold(is.name, files[i].Name) })
		}
		if !taken {
			return files, nil
		}
	}
	return nil, noRoom(message.T("its root folder has too many files"))
}

// put takes clusters for a file, and returns its entries of the root folder.
func (a *adding) put(f File, number int) ([]byte, error) {
	chain, err := a.take((int64(len(f.Data)) + a.cluster - 1) / a.cluster)
	if err != nil {
		return nil, err
	}
	for i, cluster := range chain {
		data := make([]byte, a.cluster)
		copy(data, f.Data[int64(i)*a.cluster:])
		a.data = append(a.data, patch{a.fat.data + (cluster-2)*a.cluster, data})
	}
	first := int64(0)
	if len(chain) > 0 {
		first = chain[0]
	}
	for ; slices.Contains(a.short, fmt.Sprintf("FILE~%03d   ", number)); number++ {
	}
	a.short = append(a.short, fmt.Sprintf("FILE~%03d   ", number))
	entries := fatEntries(f, number, int(first&0xffff))
	binary.LittleEndian.PutUint16(entries[len(entries)-entrySize+20:], uint16(first>>16))
	return entries, nil
}

// take finds clusters that nothing uses, and chains them in the table that is to be written.
func (a *adding) take(n int64) (chain []int64, err error) {
	for a.free = max(a.free, 2); int64(len(chain)) < n; a.free++ {
		if !a.has(a.free) {
			return nil, noRoom(message.T("it is full"))
		}
		used, err := a.value(a.free)
		if err != nil {
			return nil, err
		}
		if used == 0 {
			chain = append(chain, a.free)
		}
	}
	for i, cluster := range chain {
		next := int64(1)<<min(a.bits, 28) - 1 // the end
		if i+1 < len(chain) {
			next = chain[i+1]
		}
		if err := a.chainTo(cluster, next); err != nil {
			return nil, err
		}
	}
	return chain, nil
}

// chainTo sets an entry of the table; 0 frees its cluster.
func (a *adding) chainTo(cluster, next int64) error {
	bit := cluster * int64(a.bits)
	mask := (int64(1)<<min(a.bits, 28) - 1) << (bit % 8)
	for next <<= bit % 8; mask != 0; next, mask = next>>8, mask>>8 {
		at := bit / 8 / sector * sector
		if a.sectors[at] == nil {
			s, err := a.from.at(a.table+at, sector)
			if err != nil {
				return err
			}
			a.sectors[at] = s
		}
		b := &a.sectors[at][bit/8%sector]
		*b = *b&^byte(mask) | byte(next)
		bit += 8
	}
	return nil
}

// write writes everything: what nothing refers to, then the tables, then what shows the files.
func (a *adding) write(show []patch) error {
	all := [][]patch{append(a.data, a.uncounted()...), a.tables()}
	for _, p := range show {
		all = append(all, []patch{p})
	}
	return a.inOrder(all)
}

// tables are the sectors of the table that have changed, in each of its copies.
func (a *adding) tables() (all []patch) {
	for at, s := range a.sectors {
		for table := a.table; table < a.tablesEnd; table += a.tableEnd - a.table {
			all = append(all, patch{table + at, s})
		}
	}
	return all
}

// inOrder writes groups of patches; each is on the device before the next one begins.
func (a *adding) inOrder(all [][]patch) error {
	for _, patches := range all {
		for _, p := range patches {
			if _, err := a.device.WriteAt(p.data, p.at); err != nil {
				return Unwritten(err)
			}
		}
		if err := a.device.Sync(); err != nil {
			return Unwritten(err)
		}
	}
	return nil
}

// uncounted makes the number of free clusters unknown, where FAT32 keeps one: systems count again then.
func (a *adding) uncounted() []patch {
	const counts = "rrAa" // and the number behind it
	if a.bits != 32 || a.info == 0 {
		return nil
	}
	s, err := a.from.at(a.info, sector)
	if err != nil || string(s[:4]) != "RRaA" || string(s[484:488]) != counts {
		return nil // it is no more than a hint
	}
	return []patch{{a.info + 488, []byte{0xff, 0xff, 0xff, 0xff}}}
}

// Unwritten is the problem of a volume that could not be written to.
func Unwritten(err error) error {
	return &problem.Problem{
		Code: "MED-WERR", Summary: message.T("The medium cannot be written to."),
		Fix: message.T("Leave it in until the screen says that it can be taken out, or use another stick the next time."), Err: err,
	}
}

func noRoom(why message.Text) error {
	return &problem.Problem{
		Code: "MED-SPCE", Summary: message.F("There is no room on the medium: %s.", why),
		Fix: message.T("Use another stick. Those that touchdown media write makes have room for a report and a support bundle."),
	}
}

// TooLarge is the problem of files of which none is Fitting.
func TooLarge() error {
	return noRoom(message.F("each of its files has more than %d MiB", MaxFile>>20))
}

// unsuited is the problem of files that no volume takes.
func unsuited(err error) error {
	return &problem.Problem{
		Code: "MED-SPCE", Summary: message.T("The medium cannot have a file of this name or size."),
		Fix: message.T("Use another stick."), Err: err,
	}
}
