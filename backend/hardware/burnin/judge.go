package burnin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// Checks are the verdicts on a result. Their IDs begin with "burn-in-".
func (r *Result) Checks() []check.Check {
	checks := []check.Check{
		r.cpu(), r.memory(), r.disk(),
		r.judge(groupECC, check.Check{
			ID: "burn-in-ecc", Title: message.T("Burn-in: memory errors (ECC)"), Expected: message.T("no error more than before"),
			Source: message.T("a corrected error in a burn-in is a module that gets worse; EDAC of the kernel counts them (/sys/devices/system/edac)"),
			Fix:    message.T("Replace the memory module that is named; where none is, find it in the BMC's event log."),
		}, message.T("not checked: the kernel counts no memory errors here; no ECC memory, or no EDAC driver for this board")),
		r.judge(groupSMART, check.Check{
			ID: "burn-in-smart", Title: message.T("Burn-in: disk errors (SMART)"), Expected: message.T("no error more than before"),
			Source: message.T("smartctl: reallocated, pending and uncorrectable sectors of ATA, media errors of NVMe"),
			Fix:    message.T("Replace the disk."),
		}, message.T("not checked: no disk reports its errors, or smartctl is not installed on this machine (package smartmontools)")),
		r.judge(groupPorts, check.Check{
			ID: "burn-in-ports", Title: message.T("Burn-in: network ports"), Expected: message.T("no error and no lost link"),
			Source: message.T("/sys/class/net/*/statistics, carrier_changes"),
			Fix:    message.T("Check the cable, the transceiver and the switch's port; if they are good, replace the network card."),
		}, message.T("not checked: no physical port has a link")),
		r.temperature(),
		r.throttling(),
	}
	return checks
}

// cpu judges the computations.
func (r *Result) cpu() check.Check {
	c := check.Check{
		ID: "burn-in-cpu", Title: message.T("Burn-in: CPU"), Status: check.Pass, Expected: message.T("every computation right, on each CPU"),
		Source: message.T("known results of SHA-256, AES, CRC-32C and floating point"),
	}
	var idle []message.Text
	rounds := int64(0)
	for _, cpu := range r.Order.CPUs {
		rounds += r.Tally.Rounds[cpu]
		if why, is := r.Tally.idle(cpu); is {
			idle = append(idle, message.F("CPU %d: %s", cpu, why))
		}
	}
	n := len(r.Order.CPUs)
	c.Observed = message.F("%d computations on %d CPUs in %s, all right", int(rounds)*len(kernels), n, span(r.For))
	switch wrong := r.Tally.Wrong[kindCPU]; {
	case n == 0:
		c.Status, c.Observed = check.Skip, message.T("not checked: the kernel does not list its CPUs")
	case wrong > 0:
		c.Status, c.Observed = check.Fail, message.F("%d computations wrong", int(wrong))
		c.Fix, c.Evidence = message.T("Replace the processor or the board: it computes wrong results."), r.told(kindCPU)
	case len(idle) > 0:
		c.Status, c.Observed, c.Evidence = check.Warn, message.F("%d of %d CPUs were not loaded", len(idle), n), idle
		c.Fix = message.T("Retry when no other program has these CPUs for itself alone.")
	}
	return r.dated(c)
}

// memory judges what was written to memory and read back.
func (r *Result) memory() check.Check {
	c := check.Check{
		ID: "burn-in-memory", Title: message.T("Burn-in: memory"), Expected: message.T("what was written is read back, in at least one whole pass"),
		Source: message.F("half of the available memory (MemAvailable), at least %d GiB left to the cluster: kubelet evicts pods at 100 MiB", memoryLeave>>30),
	}
	c.Observed = message.F("%s tested, %s compared", size(r.Order.Memory), size(r.Tally.Compared))
	whole := !slices.ContainsFunc(r.Order.CPUs, func(cpu int) bool { return r.Tally.Passes[cpu] == 0 })
	switch wrong := r.Tally.Wrong[kindMemory]; {
	case wrong > 0:
		c.Status, c.Observed = check.Fail, message.F("%d blocks read back wrong", int(wrong))
		c.Fix, c.Evidence = message.T("Replace the memory modules one by one, and repeat the burn-in."), r.told(kindMemory)
	case r.Order.Memory == 0:
		c.Status, c.Observed = check.Skip, message.T("not checked: too little memory is available")
	case whole && r.Tally.Memory == (message.Text{}):
		c.Status = check.Pass
	default:
		c.Status, c.Fix = check.Warn, message.T("Repeat the burn-in with more time, when the node has nothing else to do.")
		if r.Tally.Memory != (message.Text{}) {
			c.Evidence = []message.Text{r.Tally.Memory}
		}
	}
	return r.dated(c)
}

// disk judges what was written to the disk and read back.
func (r *Result) disk() check.Check {
	c := check.Check{
		ID: "burn-in-disk", Title: message.T("Burn-in: disk"), Expected: message.T("what was written is read back, in at least one whole pass"),
		Source: message.F("a file in /var/lib, at most %d GiB, at most %d GiB written in all", diskFile>>30, diskWrites>>30),
	}
	c.Observed = message.F("%s written, %s read back and compared", size(r.Tally.Written), size(r.Tally.Read))
	if !r.Tally.Direct {
		c.Evidence = []message.Text{message.T("the file system has no O_DIRECT: the page cache was dropped instead")}
	}
	switch wrong := r.Tally.Wrong[kindDisk]; {
	case wrong > 0:
		c.Status, c.Observed = check.Fail, message.F("%d blocks wrong, or not written or read at all", int(wrong))
		c.Fix, c.Evidence = message.T("Replace the disk, or its cable."), r.told(kindDisk)
	case r.NoDisk != (message.Text{}):
		c.Status, c.Observed, c.Evidence = check.Skip, message.F("not checked: %s", r.NoDisk), nil
	case r.Tally.Disk != (message.Text{}):
		c.Status, c.Observed = check.Skip, message.F("not checked: %s", r.Tally.Disk)
	case r.Tally.Read >= r.Order.File:
		c.Status = check.Pass
	default:
		c.Status, c.Fix = check.Warn, message.T("Repeat the burn-in with more time, when the node has nothing else to do.")
	}
	return r.dated(c)
}

// judge fails where a counter of a group rose.
func (r *Result) judge(group string, c check.Check, none message.Text) check.Check {
	before := r.Before[group]
	rises := before.rises(r.After[group])
	switch {
	case len(before) == 0:
		c.Status, c.Observed, c.Fix = check.Skip, none, message.Text{}
	case len(rises) > 0:
		c.Status, c.Observed, c.Evidence = check.Fail, message.F("more than before, or gone (-): %s", strings.Join(rises[:min(len(rises), 3)], "; ")), message.Lines(rises)
	default:
		c.Status, c.Observed, c.Fix = check.Pass, message.F("%d counters, none rose", len(before)), message.Text{}
	}
	return r.dated(c)
}

// throttling warns: a machine that is too hot on the bench line is slower at its site, and not broken.
func (r *Result) throttling() check.Check {
	c := r.judge(groupThrottle, check.Check{
		ID: "burn-in-throttling", Title: message.T("Burn-in: CPU throttling"), Expected: message.T("no CPU slows down because of heat"),
		Source: message.T("/sys/devices/system/cpu/cpu*/thermal_throttle"),
		Fix:    message.T("Check fans, heat sinks and air flow: at its site the machine may be hotter than here."),
	}, message.T("not checked: the kernel does not count it on this processor"))
	if c.Status == check.Fail {
		c.Status = check.Warn
	}
	return c
}

// temperature judges the hottest that each sensor was.
func (r *Result) temperature() check.Check {
	c := check.Check{
		ID: "burn-in-temperature", Title: message.T("Burn-in: highest temperature"), Status: check.Pass, Expected: message.T("below the warning threshold of each sensor"),
		Source: message.T("/sys/class/hwmon: temp*_max, temp*_crit"),
	}
	if len(r.Hottest) == 0 {
		c.Status, c.Observed = check.Skip, message.T("not checked: the machine has no sensor that answers")
		return r.dated(c)
	}
	names := make([]string, 0, len(r.Hottest))
	for name, s := range r.Hottest {
		names = append(names, name)
		switch {
		case s.Critical > 0 && s.Celsius >= s.Critical:
			c.Status = check.Fail
		case s.High > 0 && s.Celsius >= s.High && c.Status == check.Pass:
			c.Status = check.Warn
		}
	}
	slices.SortFunc(names, func(a, b string) int { return hotter(r.Hottest[a], r.Hottest[b], a, b) })
	c.Observed = message.F("%s degrees Celsius: %s", fmt.Sprintf("%.0f", r.Hottest[names[0]].Celsius), names[0])
	for _, name := range names {
		c.Evidence = append(c.Evidence, message.F("%s: %.0f C", name, r.Hottest[name].Celsius))
	}
	if c.Status != check.Pass {
		c.Fix = message.T("Check fans, heat sinks and air flow: at its site the machine may be hotter than here.")
	}
	return r.dated(c)
}

// hotter orders sensors: those nearest to their limit first, the hottest of the others behind them.
func hotter(a, b sensor, nameA, nameB string) int {
	over := func(s sensor) int {
		switch {
		case s.Critical > 0 && s.Celsius >= s.Critical:
			return 2
		case s.High > 0 && s.Celsius >= s.High:
			return 1
		}
		return 0
	}
	if d := over(b) - over(a); d != 0 {
		return d
	}
	if a.Celsius != b.Celsius {
		return int(b.Celsius*1000) - int(a.Celsius*1000)
	}
	return strings.Compare(nameA, nameB)
}

// told are the faults of a kind that were kept.
func (r *Result) told(kind string) (lines []message.Text) {
	for _, told := range r.Tally.Told {
		if told.Kind == kind {
			lines = append(lines, told.What)
		}
	}
	return lines
}

// dated says when and how long the burn-in was.
func (r *Result) dated(c check.Check) check.Check {
	c.Evidence = append(c.Evidence, message.F("burn-in of %s, ended at %s", span(r.For), r.At.UTC().Format(time.RFC3339)))
	return c
}

// size is a number of bytes for people.
func size(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// span is a duration without its zeros: "30m", "1h30m".
func span(d time.Duration) string {
	text := d.Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if cut, is := strings.CutSuffix(text, zero); is {
			text = cut + zero[:1]
		}
	}
	return text
}
