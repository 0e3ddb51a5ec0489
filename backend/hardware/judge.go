package hardware

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend/check"
)

// Checks judges an inventory. What could not be looked at is skipped with the reason, never passed.
func Checks(i *Inventory, l Limits) []check.Check {
	return []check.Check{
		judgeCPU(i, l.Threads),
		judgeFlags(i),
		judgeMemory(i, l.MemoryMiB),
		judgeDisk(i, l.DiskGB),
		judgeDiskType(i),
		judgeVar(i, l.VarPercent),
		judgeNICs(i),
		judgeLink(i),
		judgeSpeed(i, l.LinkMbps),
		judgeTPM(i),
		judgeSecureBoot(i),
		judgeBootMode(i),
		judgeClock(i),
		judgeRTC(i, l.ClockSkew),
		judgeSerial(i),
		judgeVirtual(i),
	}
}

// skipped is the verdict on what could not be looked at.
func skipped(c check.Check, why string) check.Check {
	c.Status, c.Observed, c.Fix = check.Skip, why, ""
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
		c.Status, c.Fix = check.Pass, ""
	}
	return c
}

func judgeCPU(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-cpu", Title: "Processor threads (vCPU)", Expected: fmt.Sprintf("at least %d", b.Fail), Source: b.Source,
		Fix: "Check that hyper-threading is on in the firmware; else this machine is too small.",
	}
	if i.CPU.Threads == 0 {
		return skipped(c, i.why("cpu"))
	}
	c.Observed = fmt.Sprintf("%d threads on %d cores, %s", i.CPU.Threads, i.CPU.Cores, orUnknown(i.CPU.Model))
	return atLeast(c, int64(i.CPU.Threads), b)
}

func judgeFlags(i *Inventory) check.Check {
	c := check.Check{ID: "hw-cpu-flags", Title: "Processor generation", Expected: "x86-64-v2, better v3", Source: sourceFlags}
	// "lm" is the flag of every 64-bit x86; without it the list is of another architecture, or missing.
	if !slices.Contains(i.CPU.Flags, "lm") {
		return skipped(c, "not looked at: no list of x86-64 features")
	}
	missing := func(level []string) []string {
		return slices.DeleteFunc(slices.Clone(level), func(f string) bool { return slices.Contains(i.CPU.Flags, f) })
	}
	v2, v3 := missing(levelV2), missing(levelV3)
	switch {
	case len(v2) > 0:
		c.Status, c.Observed = check.Fail, "below x86-64-v2: no "+strings.Join(v2, ", ")
		c.Fix = "Use a machine with a newer processor: CoreOS does not start its programs on this one."
	case len(v3) > 0:
		c.Status, c.Observed = check.Warn, "x86-64-v2, but not v3: no "+strings.Join(v3, ", ")
		c.Fix = "Nothing to do now; a later OpenShift built on RHEL 10 will not run on this processor."
	default:
		c.Status, c.Observed = check.Pass, "x86-64-v3"
	}
	return c
}

func judgeMemory(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-memory", Title: "Memory", Expected: fmt.Sprintf("at least %d GiB", b.Fail/1024), Source: b.Source,
		Fix: "Check that every memory module is seated and seen by the firmware.",
	}
	bytes := i.Memory.Physical
	if bytes == 0 {
		// Firmware and kernel keep a part for themselves: about 1/16 at most on machines of this size.
		bytes = i.Memory.Usable + i.Memory.Usable/16
	}
	if bytes == 0 {
		return skipped(c, i.why("memory"))
	}
	c.Observed = gib(max(i.Memory.Physical, i.Memory.Usable))
	if i.Memory.Physical == 0 {
		c.Observed += " usable"
	}
	return atLeast(c, bytes>>20, b)
}

func judgeDisk(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-disk", Title: "System disk size", Expected: fmt.Sprintf("at least %d GB, better %d GB", b.Fail, b.Warn), Source: b.Source,
		Fix: "Use a larger disk for the system.",
	}
	d := i.SystemDisk()
	if d == nil {
		return skipped(c, i.whyNoDisk())
	}
	c.Observed = fmt.Sprintf("%s, %s %s", d.Name, gb(d.Bytes), strings.TrimSpace(d.Vendor+" "+d.Model))
	return atLeast(c, d.Bytes/1e9, b)
}

func (i *Inventory) whyNoDisk() string {
	if i.Errors["disks"] != "" {
		return i.why("disks")
	}
	return "not looked at: cannot tell which disk holds the system"
}

func judgeDiskType(i *Inventory) check.Check {
	c := check.Check{ID: "hw-disk-type", Title: "System disk type", Expected: "built-in solid-state disk (SSD, NVMe)", Source: sourceDisk}
	d := i.SystemDisk()
	if d == nil {
		return skipped(c, i.whyNoDisk())
	}
	c.Observed, c.Status = d.Type, check.Pass
	switch {
	case d.Removable:
		c.Status, c.Observed = check.Fail, d.Type+", removable"
		c.Fix = "Install the system on a built-in disk."
	case d.Type == "HDD":
		c.Status = check.Warn
		c.Fix = "Use a solid-state disk: the cluster's database (etcd) needs writes that reach the disk within 10 ms."
	case d.Type != "SSD":
		return skipped(c, "not looked at: the kernel does not tell the type of "+d.Name)
	}
	return c
}

func judgeVar(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-var", Title: "Free space for images and pods (/var)", Source: b.Source,
		Expected: fmt.Sprintf("%d %% free; below %d %% pods are evicted", b.Warn, b.Fail),
		Fix:      "Free space on /var: below 15 % the node deletes images that it may not be able to fetch again.",
	}
	if i.Var.Total == 0 {
		return skipped(c, i.why("var"))
	}
	percent := i.Var.Free * 100 / i.Var.Total
	c.Observed = fmt.Sprintf("%s of %s free (%d %%)", gb(i.Var.Free), gb(i.Var.Total), percent)
	return atLeast(c, percent, b)
}

func judgeClock(i *Inventory) check.Check {
	c := check.Check{
		ID: "hw-clock", Title: "System clock", Expected: "not before " + i.Clock.Floor.UTC().Format(time.DateOnly),
		Source: "Touchdown: this program was built then", Observed: i.Clock.System.UTC().Format("2006-01-02 15:04 UTC"), Status: check.Pass,
	}
	switch {
	case i.Clock.System.Before(i.Clock.Floor):
		c.Status = check.Fail
	case i.Clock.System.After(i.Clock.Floor.AddDate(15, 0, 0)):
		c.Status, c.Expected = check.Fail, "within 15 years of "+i.Clock.Floor.UTC().Format(time.DateOnly)
	}
	if c.Status == check.Fail {
		c.Fix = "Set the date in the firmware, or give the node a time server: with a wrong date no certificate is valid."
	}
	return c
}

func judgeRTC(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-rtc", Title: "Hardware clock and its battery", Expected: fmt.Sprintf("within %d s of the system clock", b.Warn), Source: b.Source,
		Fix: "Set the hardware clock; if it is wrong again after a power cut, change the board's battery.",
	}
	if i.Clock.RTC.IsZero() {
		return skipped(c, i.why("clock"))
	}
	off := i.Clock.System.Sub(i.Clock.RTC).Abs().Round(time.Second)
	c.Observed = fmt.Sprintf("%s, %s off", i.Clock.RTC.UTC().Format("2006-01-02 15:04:05 UTC"), off)
	// Only a warning: the system clock may be right by a time server. It is the next start that goes wrong.
	switch seconds := int64(off / time.Second); {
	case seconds > b.Fail:
		c.Status, c.Fix = check.Warn, "Set the hardware clock: after a power cut the node would start with a wrong time."
	case seconds > b.Warn:
		c.Status = check.Warn
	default:
		c.Status, c.Fix = check.Pass, ""
	}
	return c
}
