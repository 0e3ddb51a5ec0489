package hardware

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// textWidth is the width of a console, and of what support is sent by mail.
const textWidth = 80

// tree writes the text: a line for each part of the machine, what belongs to it indented below it.
type tree struct {
	strings.Builder
	i *Inventory
}

// head begins a part of the machine.
func (t *tree) head(name, is string) {
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	t.row(0, name, is)
}

// row writes a name and what is to say about it. What does not fit one line goes on below its beginning.
func (t *tree) row(level int, name, is string) {
	name = strings.Repeat("  ", level) + ansi.Truncate(name, textWidth/3, "..")
	begin := max(14, ansi.StringWidth(name)+2)
	name += strings.Repeat(" ", begin-ansi.StringWidth(name))
	line := name
	for word := range strings.FieldsSeq(cmp.Or(is, "-")) {
		blank := " "
		if ansi.StringWidth(line) <= begin {
			blank = ""
		} else if ansi.StringWidth(line+word) >= textWidth {
			fmt.Fprintln(t, line)
			line, blank = strings.Repeat(" ", begin), ""
		}
		line += blank + ansi.Truncate(word, textWidth-begin, "..")
	}
	fmt.Fprintln(t, line)
}

// join puts what is known into one line.
func join(known ...string) string {
	var parts []string
	for _, s := range known {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}

// with puts a word before a text, unless that is empty.
func with(word, text string) string {
	if text == "" {
		return ""
	}
	return word + " " + text
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Text is the inventory for people, in lines of 80 columns.
func (i *Inventory) Text() string {
	t := &tree{i: i}
	t.machine()
	t.processors()
	t.memory()
	t.disks()
	t.ports()
	t.buses()
	t.sensors()
	return t.String()
}

// gap tells why there is nothing, or not all. That it was looked at, which the error begins with, is clear from where it stands.
func (t *tree) gap(section, name string) {
	why, failed := t.i.Errors[section]
	if !failed {
		return
	}
	if _, cause, more := strings.Cut(why, ": "); more {
		why = cause
	}
	t.row(1, name, "not known: "+why)
}

func (t *tree) machine() {
	p, f := t.i.Product, t.i.Firmware
	t.head("Machine", join(strings.TrimSpace(p.Vendor+" "+p.Name), p.Family, with("version", p.Version), with("SKU", p.SKU)))
	if t.i.Hostname != "" {
		t.row(1, "name", t.i.Hostname)
	}
	t.row(1, "serial no.", orUnknown(p.Serial))
	t.gap("product", "type plate")
	if p.UUID != "" {
		t.row(1, "UUID", p.UUID)
	}
	t.plate("chassis", t.i.Chassis)
	t.gap("chassis", "chassis")
	t.plate("board", t.i.Board)
	t.gap("board", "board")
	t.row(1, "firmware", join(p.BIOS, f.Boot, with("Secure Boot", f.SecureBoot), with("TPM", f.TPM)))
	t.gap("boot", "boot mode")
	t.gap("tpm", "TPM")
	t.row(1, "virtual", map[string]string{"": "not known", "none": "no"}[t.i.Virtual]+strings.TrimPrefix(t.i.Virtual, "none"))
	t.gap("virtual", "virtual")
	if t.i.BMC != nil {
		t.row(1, "BMC", join(cmp.Or(t.i.BMC.Interface, "present"), with("IPMI", t.i.BMC.Version), map[bool]string{true: "the kernel talks to it", false: "no driver for it is loaded"}[t.i.BMC.Driver]))
	} else if t.i.Errors["bmc"] == "" {
		t.row(1, "BMC", "none found")
	}
	t.gap("bmc", "BMC")
	t.row(1, "watchdog", map[bool]string{true: "present", false: "none found"}[t.i.Watchdog])
	t.gap("watchdog", "watchdog")
	t.row(1, "clocks", join(clockText("system", t.i.Clock.System), clockText("clock chip", t.i.Clock.RTC)))
	t.gap("clock", "clock chip")
}

func clockText(name string, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return name + " " + at.UTC().Format("2006-01-02 15:04:05 UTC")
}

func (t *tree) plate(name string, p Plate) {
	if p != (Plate{}) {
		t.row(1, name, join(p.Type, strings.TrimSpace(p.Vendor+" "+p.Name), with("version", p.Version), with("serial no.", p.Serial), with("asset tag", p.Asset)))
	}
}

func (t *tree) processors() {
	c := t.i.CPU
	var mhz string
	if c.MHz > 0 {
		mhz = fmt.Sprintf("%.0f MHz", c.MHz)
	}
	t.head("Processor", join(orUnknown(c.Model), c.Arch, mhz))
	if c.Threads > 0 {
		t.row(1, "size", join(plural(c.Sockets, "socket"), plural(c.Cores, "core"), plural(c.Threads, "thread")))
	}
	t.gap("cpu", "processor")
	for _, n := range t.i.Nodes {
		var caches []string
		for _, c := range n.Caches {
			one := fmt.Sprintf("L%d %s %d KiB", c.Level, c.Type, c.Bytes>>10)
			if c.Count > 1 {
				one = fmt.Sprintf("%dx %s", c.Count, one)
			}
			caches = append(caches, one)
		}
		memory := ""
		if n.Bytes > 0 {
			memory = gib(n.Bytes)
		}
		t.row(1, fmt.Sprintf("node %d", n.ID), join(plural(n.Cores, "core"), with("threads", ranges(n.Threads)), memory))
		if len(caches) > 0 {
			t.row(2, "caches", join(caches...))
		}
	}
	t.gap("topology", "nodes")
}

// ranges writes numbers that are in order as the kernel does: "0-5,12-17".
func ranges(all []int) string {
	var parts []string
	for at := 0; at < len(all); {
		end := at
		for end+1 < len(all) && all[end+1] == all[end]+1 {
			end++
		}
		part := fmt.Sprint(all[at])
		if end > at {
			part += fmt.Sprint("-", all[end])
		}
		parts, at = append(parts, part), end+1
	}
	return strings.Join(parts, ",")
}

func (t *tree) memory() {
	bytes, how := t.i.physical()
	size := "not known"
	if bytes > 0 {
		size = gib(bytes) + map[string]string{"dmidecode": " in modules", "ghw": " physical", "meminfo": " usable"}[how]
	}
	if t.i.Memory.Usable > 0 && how != "meminfo" {
		size += ", " + gib(t.i.Memory.Usable) + " usable"
	}
	t.head("Memory", size)
	t.gap("memory", "size")
	for n, m := range t.i.Modules {
		is := "empty"
		if m.Bytes > 0 {
			speed := ""
			if m.Speed > 0 {
				speed = fmt.Sprintf("%d MT/s", m.Speed)
			}
			is = join(strings.TrimSpace(gib(m.Bytes)+" "+m.Type), speed, strings.TrimSpace(m.Vendor+" "+m.Part), with("serial no.", m.Serial))
		}
		t.row(1, cmp.Or(m.Slot, m.Bank, fmt.Sprintf("slot %d", n)), is)
	}
	t.gap("modules", "slots")
	for _, c := range t.i.MemoryErrors {
		t.row(1, c.Name, join(fmt.Sprintf("%d corrected errors, %d uncorrected", c.Corrected, c.Uncorrected), c.Type))
	}
	t.gap("edac", "errors")
}
