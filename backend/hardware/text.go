package hardware

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"touchdown/backend/message"
)

// textWidth is the width of a console, and of what support is sent by mail.
const textWidth = 80

// Line is a part of the machine, or what belongs to the part above it, and what is to say about it.
type Line struct {
	Level int          `json:"level"` // 0 begins a part
	Name  message.Text `json:"name"`
	Is    message.Text `json:"is,omitzero"`
}

// Page is the inventory for people, in any language.
type Page struct {
	Lines    []Line           `json:"lines"`
	Messages message.Messages `json:"messages,omitempty"` // of Lines, on the wire
}

// Page tells what the machine is made of.
func (i *Inventory) Page() Page {
	t := &tree{i: i}
	t.machine()
	t.processors()
	t.memory()
	t.disks()
	t.ports()
	t.buses()
	t.sensors()
	return Page{Lines: t.lines}
}

// Text is the inventory in English, in lines of 80 columns.
func (i *Inventory) Text() string { return i.Page().Text(message.Text.String) }

// Marshal writes the page for the wire.
func (p Page) Marshal() ([]byte, error) {
	p.Messages = message.Of(&p)
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding the inventory: %w", err)
	}
	return data, nil
}

// ReadPage reads what Marshal wrote.
func ReadPage(data []byte) (p Page, err error) {
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("reading the inventory: %w", err)
	}
	message.Restore(&p, p.Messages)
	return p, nil
}

// Text is the page in the language of show, in lines of 80 columns.
func (p Page) Text(show func(message.Text) string) string {
	var out strings.Builder
	for n, line := range p.Lines {
		if n > 0 && line.Level == 0 {
			out.WriteByte('\n')
		}
		line.write(&out, show)
	}
	return out.String()
}

// write writes a line. What does not fit goes on below its beginning.
func (l Line) write(out *strings.Builder, show func(message.Text) string) {
	name := strings.Repeat("  ", l.Level) + ansi.Truncate(show(l.Name), textWidth/3, "..")
	begin := max(14, ansi.StringWidth(name)+2)
	name += strings.Repeat(" ", begin-ansi.StringWidth(name))
	line := name
	for word := range strings.FieldsSeq(cmp.Or(show(l.Is), "-")) {
		blank := " "
		if ansi.StringWidth(line) <= begin {
			blank = ""
		} else if ansi.StringWidth(line+word) >= textWidth {
			fmt.Fprintln(out, line)
			line, blank = strings.Repeat(" ", begin), ""
		}
		line += blank + ansi.Truncate(word, textWidth-begin, "..")
	}
	fmt.Fprintln(out, line)
}

// tree makes the lines.
type tree struct {
	lines []Line
	i     *Inventory
}

// head begins a part of the machine.
func (t *tree) head(name, is message.Text) { t.row(0, name, is) }

func (t *tree) row(level int, name, is message.Text) {
	t.lines = append(t.lines, Line{level, name, is})
}

// join puts what is known into one line.
func join(known ...message.Text) message.Text {
	known = slices.DeleteFunc(known, func(t message.Text) bool { return strings.TrimSpace(t.String()) == "" })
	if len(known) == 0 {
		return message.Text{}
	}
	return message.Join(known, ", ")
}

// with is a text about a value, nothing without the value.
func with(value string, text message.Text) message.Text {
	if value == "" {
		return message.Text{}
	}
	return text
}

// data are values side by side.
func data(values ...string) message.Text {
	return message.Data(strings.TrimSpace(strings.Join(values, " ")))
}

// gap tells why there is nothing, or not all.
func (t *tree) gap(section string, name message.Text) {
	if why, failed := t.i.Errors[section]; failed {
		t.row(1, name, message.F("not known: %s", message.OrVerbatim(why)))
	}
}

func (t *tree) machine() {
	p, f := t.i.Product, t.i.Firmware
	t.head(message.T("Machine"), join(data(p.Vendor, p.Name), data(p.Family), with(p.Version, message.F("version %s", p.Version)), with(p.SKU, message.F("SKU %s", p.SKU))))
	if t.i.Hostname != "" {
		t.row(1, message.T("name"), data(t.i.Hostname))
	}
	t.row(1, message.T("serial no."), named(p.Serial))
	t.gap("product", message.T("type plate"))
	if p.UUID != "" {
		t.row(1, message.T("UUID"), data(p.UUID))
	}
	t.plate(message.T("chassis"), t.i.Chassis)
	t.gap("chassis", message.T("chassis"))
	t.plate(message.T("board"), t.i.Board)
	t.gap("board", message.T("board"))
	t.row(1, message.T("firmware"), join(data(p.BIOS), data(f.Boot), with(f.SecureBoot, message.F("Secure Boot %s", word(f.SecureBoot))), with(f.TPM, message.F("TPM %s", word(f.TPM)))))
	t.gap("boot", message.T("boot mode"))
	t.gap("tpm", message.T("TPM"))
	virtual := data(t.i.Virtual)
	switch t.i.Virtual {
	case "":
		virtual = message.T("not known")
	case "none":
		virtual = message.T("no")
	}
	t.row(1, message.T("virtual"), virtual)
	t.gap("virtual", message.T("virtual"))
	t.management()
}

func (t *tree) management() {
	if t.i.BMC != nil {
		driver, way := message.T("no driver for it is loaded"), message.T("present")
		if t.i.BMC.Driver {
			driver = message.T("the kernel talks to it")
		}
		if t.i.BMC.Interface != "" {
			way = data(t.i.BMC.Interface)
		}
		t.row(1, message.T("BMC"), join(way, with(t.i.BMC.Version, message.F("IPMI %s", t.i.BMC.Version)), driver))
	} else if !t.i.failed("bmc") {
		t.row(1, message.T("BMC"), message.T("none found"))
	}
	t.gap("bmc", message.T("BMC"))
	watchdog := message.T("none found")
	if t.i.Watchdog {
		watchdog = message.T("present")
	}
	t.row(1, message.T("watchdog"), watchdog)
	t.gap("watchdog", message.T("watchdog"))
	t.row(1, message.T("clocks"), join(clockText(message.T("system"), t.i.Clock.System), clockText(message.T("clock chip"), t.i.Clock.RTC)))
	t.gap("clock", message.T("clock chip"))
}

func clockText(name message.Text, at time.Time) message.Text {
	if at.IsZero() {
		return message.Text{}
	}
	return message.F("%s %s", name, at.UTC().Format("2006-01-02 15:04:05 UTC"))
}

func (t *tree) plate(name message.Text, p Plate) {
	if p != (Plate{}) {
		t.row(1, name, join(data(p.Type), data(p.Vendor, p.Name), with(p.Version, message.F("version %s", p.Version)), serialNo(p.Serial), with(p.Asset, message.F("asset tag %s", p.Asset))))
	}
}

func serialNo(serial string) message.Text {
	return with(serial, message.F("serial no. %s", serial))
}

func (t *tree) processors() {
	c := t.i.CPU
	var mhz message.Text
	if c.MHz > 0 {
		mhz = message.F("%.0f MHz", c.MHz)
	}
	t.head(message.T("Processor"), join(named(c.Model), data(c.Arch), mhz))
	if c.Threads > 0 {
		t.row(1, message.T("size"), join(message.N(c.Sockets, "%d socket", "%d sockets"), message.N(c.Cores, "%d core", "%d cores"), message.N(c.Threads, "%d thread", "%d threads")))
	}
	t.gap("cpu", message.T("processor"))
	for _, n := range t.i.Nodes {
		var caches []message.Text
		for _, c := range n.Caches {
			one := message.F("L%d %s %d KiB", c.Level, word(c.Type), c.Bytes>>10)
			if c.Count > 1 {
				one = message.F("%dx %s", c.Count, one)
			}
			caches = append(caches, one)
		}
		memory := ""
		if n.Bytes > 0 {
			memory = gib(n.Bytes)
		}
		threads := ranges(n.Threads)
		t.row(1, message.F("node %d", n.ID), join(message.N(n.Cores, "%d core", "%d cores"), with(threads, message.F("threads %s", threads)), data(memory)))
		if len(caches) > 0 {
			t.row(2, message.T("caches"), join(caches...))
		}
	}
	t.gap("topology", message.T("nodes"))
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
	size := message.T("not known")
	if bytes > 0 {
		switch how {
		case "dmidecode":
			size = message.F("%s in modules", gib(bytes))
		case "ghw":
			size = message.F("%s physical", gib(bytes))
		default:
			size = message.F("%s usable", gib(bytes))
		}
	}
	if t.i.Memory.Usable > 0 && how != "meminfo" {
		size = join(size, message.F("%s usable", gib(t.i.Memory.Usable)))
	}
	t.head(message.T("Memory"), size)
	t.gap("memory", message.T("size"))
	for n, m := range t.i.Modules {
		is := message.T("empty")
		if m.Bytes > 0 {
			speed := ""
			if m.Speed > 0 {
				speed = fmt.Sprintf("%d MT/s", m.Speed)
			}
			is = join(message.F("%s %s", gib(m.Bytes), word(m.Type)), data(speed), data(m.Vendor, m.Part), serialNo(m.Serial))
		}
		slot := message.F("slot %d", n)
		if name := cmp.Or(m.Slot, m.Bank); name != "" {
			slot = data(name)
		}
		t.row(1, slot, is)
	}
	t.gap("modules", message.T("slots"))
	for _, c := range t.i.MemoryErrors {
		t.row(1, data(c.Name), join(message.F("%d corrected errors, %d uncorrected", c.Corrected, c.Uncorrected), data(c.Type)))
	}
	t.gap("edac", message.T("errors"))
}
