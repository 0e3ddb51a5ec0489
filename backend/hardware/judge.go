package hardware

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// Checks judges an inventory. What could not be checked is skipped with the reason, never passed.
func Checks(i *Inventory, l Limits) []check.Check {
	return []check.Check{
		judgeCPU(i, l.Threads),
		judgeFlags(i),
		judgeMemory(i, l.MemoryMiB),
		judgeDisk(i, l.DiskGB),
		judgeDiskType(i),
		judgeVar(i, l.VarPercent),
		judgeNICs(i, l.Ports),
		judgeLink(i),
		judgeSpeed(i, l.LinkMbps),
		judgeTPM(i, l.TPM),
		judgeSecureBoot(i, l.SecureBoot),
		judgeBootMode(i, l.UEFI),
		judgeClock(i),
		judgeRTC(i, l.ClockSkew),
		judgeSerial(i),
		judgeVirtual(i),
	}
}

// skipped is the verdict on what could not be checked.
func skipped(c check.Check, why message.Text) check.Check {
	c.Status, c.Observed, c.Fix = check.Skip, why, message.Text{}
	return c
}

// atLeast compares with a bound and drops the fix of what is good.
func atLeast(c check.Check, n int64, b Bound) check.Check {
	c.Source = b.Source
	switch {
	case n < b.Fail:
		c.Status = check.Fail
	case n < b.Warn:
		c.Status = check.Warn
	default:
		c.Status, c.Fix = check.Pass, message.Text{}
	}
	return c
}

func judgeCPU(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-cpu", Title: message.T("Processor threads (vCPU)"), Expected: message.F("at least %d", b.Fail), Source: b.Source,
		Fix: message.T("Check that hyper-threading is on in the firmware; else this machine is too small."),
	}
	if i.CPU.Threads == 0 {
		return skipped(c, i.why("cpu"))
	}
	c.Observed = message.F("%d threads on %d cores, %s", i.CPU.Threads, i.CPU.Cores, named(i.CPU.Model))
	return atLeast(c, int64(i.CPU.Threads), b)
}

func judgeFlags(i *Inventory) check.Check {
	c := check.Check{ID: "hw-cpu-flags", Title: message.T("Processor generation"), Expected: message.T("x86-64-v2, better v3"), Source: message.T(sourceFlags)}
	// "lm" is the flag of every 64-bit x86; without it the list is of another architecture, or missing.
	if !slices.Contains(i.CPU.Flags, "lm") {
		return skipped(c, message.T("not checked: no list of x86-64 features"))
	}
	missing := func(level []string) []string {
		return slices.DeleteFunc(slices.Clone(level), func(f string) bool { return slices.Contains(i.CPU.Flags, f) })
	}
	v2, v3 := missing(levelV2), missing(levelV3)
	switch {
	case len(v2) > 0:
		c.Status, c.Observed = check.Fail, message.F("below x86-64-v2: no %s", strings.Join(v2, ", "))
		c.Fix = message.T("Use a machine with a newer processor: CoreOS does not start its programs on this one.")
	case len(v3) > 0:
		c.Status, c.Observed = check.Warn, message.F("x86-64-v2, but not v3: no %s", strings.Join(v3, ", "))
		c.Fix = message.T("Nothing to do now; a later OpenShift built on RHEL 10 will not run on this processor.")
	default:
		c.Status, c.Observed = check.Pass, message.T("x86-64-v3")
	}
	return c
}

func judgeMemory(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-memory", Title: message.T("Memory"), Expected: message.F("at least %d GiB", b.Fail/1024), Source: b.Source,
		Fix: message.T("Check that every memory module is seated and seen by the firmware."),
	}
	bytes := i.Memory.Physical
	if bytes == 0 {
		// Firmware and kernel keep a part for themselves: about 1/16 at most on machines of this size.
		bytes = i.Memory.Usable + i.Memory.Usable/16
	}
	if bytes == 0 {
		return skipped(c, i.why("memory"))
	}
	c.Observed = message.Data(gib(max(i.Memory.Physical, i.Memory.Usable)))
	if i.Memory.Physical == 0 {
		c.Observed = message.F("%s usable", c.Observed)
	}
	return atLeast(c, bytes>>20, b)
}

func judgeDisk(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-disk", Title: message.T("System disk size"), Expected: message.F("at least %d GB, better %d GB", b.Fail, b.Warn), Source: b.Source,
		Fix: message.T("Use a larger disk for the system."),
	}
	d := i.SystemDisk()
	if d == nil {
		return skipped(c, i.whyNoDisk())
	}
	c.Observed = message.F("%s, %s", d.Name, strings.TrimSpace(gb(d.Bytes)+" "+strings.TrimSpace(d.Vendor+" "+d.Model)))
	return atLeast(c, d.Bytes/1e9, b)
}

func (i *Inventory) whyNoDisk() message.Text {
	if i.failed("disks") {
		return i.why("disks")
	}
	return message.T("not checked: cannot tell which disk holds the system")
}

func judgeDiskType(i *Inventory) check.Check {
	c := check.Check{ID: "hw-disk-type", Title: message.T("System disk type"), Expected: message.T("built-in solid-state disk (SSD, NVMe)"), Source: message.T(sourceDisk)}
	d := i.SystemDisk()
	if d == nil {
		return skipped(c, i.whyNoDisk())
	}
	c.Observed, c.Status = message.Data(d.Type), check.Pass
	switch {
	case d.Removable:
		c.Status, c.Observed = check.Fail, message.F("%s, removable", d.Type)
		c.Fix = message.T("Install the system on a built-in disk.")
	case d.Type == "HDD":
		c.Status = check.Warn
		c.Fix = message.T("Use a solid-state disk: the cluster's database (etcd) needs writes that reach the disk within 10 ms.")
	case d.Type != "SSD":
		return skipped(c, message.F("not checked: the kernel does not report the type of %s", d.Name))
	}
	return c
}

func judgeVar(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-var", Title: message.T("Free space for images and pods (/var)"), Source: b.Source,
		Expected: message.F("%d %% free; below %d %% pods are evicted", b.Warn, b.Fail),
		Fix:      message.T("Free space on /var: below 15 % the node deletes images that it may not be able to fetch again."),
	}
	if i.Var.Total == 0 {
		return skipped(c, i.why("var"))
	}
	percent := i.Var.Free * 100 / i.Var.Total
	c.Observed = message.F("%s of %s free (%d %%)", gb(i.Var.Free), gb(i.Var.Total), percent)
	return atLeast(c, percent, b)
}

func judgeClock(i *Inventory) check.Check {
	c := check.Check{
		ID: "hw-clock", Title: message.T("System clock"), Expected: message.F("not before %s", i.Clock.Floor.UTC().Format(time.DateOnly)),
		Source: message.T("Touchdown: this program was built then"), Observed: message.Data(i.Clock.System.UTC().Format("2006-01-02 15:04 UTC")), Status: check.Pass,
	}
	switch {
	case i.Clock.System.Before(i.Clock.Floor):
		c.Status = check.Fail
	case i.Clock.System.After(i.Clock.Floor.AddDate(15, 0, 0)):
		c.Status, c.Expected = check.Fail, message.F("within 15 years of %s", i.Clock.Floor.UTC().Format(time.DateOnly))
	}
	if c.Status == check.Fail {
		c.Fix = message.T("Set the date in the firmware, or give the node a time server: with a wrong date no certificate is valid.")
	}
	return c
}

func judgeRTC(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-rtc", Title: message.T("Hardware clock and its battery"), Expected: message.F("within %d s of the system clock", b.Warn), Source: b.Source,
		Fix: message.T("Set the hardware clock in the firmware's setup. If it is wrong again after a power cut, change the board's battery."),
	}
	if i.Clock.RTC.IsZero() {
		return skipped(c, i.why("clock"))
	}
	off := i.Clock.System.Sub(i.Clock.RTC).Abs().Round(time.Second)
	c.Observed = message.F("%s, %s off", i.Clock.RTC.UTC().Format("2006-01-02 15:04:05 UTC"), off)
	// Only a warning: the system clock may be right by a time server. It is the next start that goes wrong.
	switch seconds := int64(off / time.Second); {
	case seconds > b.Fail:
		c.Status, c.Fix = check.Warn, message.T("Set the hardware clock in the firmware's setup: after a power cut the node would start with a wrong time.")
	case seconds > b.Warn:
		c.Status = check.Warn
	default:
		c.Status, c.Fix = check.Pass, message.Text{}
	}
	return c
}

func gib(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

func gb(n int64) string {
	if n < 10e9 {
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%d GB", n/1e9)
}
