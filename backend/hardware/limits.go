package hardware

import (
	"fmt"

	"touchdown/backend/message"
)

// Bound is a limit: below Fail the check fails, below Warn it warns.
type Bound struct {
	Fail   int64
	Warn   int64
	Source message.Text
}

// Limits are the numbers that the hardware is judged by, each with where it comes from.
type Limits struct {
	Threads    Bound // hardware threads
	MemoryMiB  Bound
	DiskGB     Bound // of 10^9 bytes
	VarPercent Bound // free on /var
	LinkMbps   Bound
	Ports      Bound // network ports that are hardware
	TPM        Bound // 2.0; with Fail 1 a machine without one fails, as for the next two
	SecureBoot Bound
	UEFI       Bound
	ClockSkew  Bound // seconds between the hardware clock and the system's; here more is worse
}

// Sources that more than one limit shares.
const (
	assisted = "assisted-service default_hw_requirements.json, sno"
	kubelet  = "kubelet defaults: nodefs.available 10 %, imageGCHighThresholdPercent 85"
)

// For returns the limits of an OpenShift version ("4.21", "4.21.3", "" when it is not known).
func For(version string) Limits {
	l := Limits{
		Threads:    Bound{Fail: 8, Source: message.T(assisted + ": cpu_cores 8")},
		MemoryMiB:  Bound{Fail: 16384, Source: message.T(assisted + ": ram_mib 16384")},
		DiskGB:     Bound{Fail: 100, Warn: 120, Source: message.T(assisted + ": disk_size_gb 100; product documentation: 120 GB")},
		VarPercent: Bound{Fail: 10, Warn: 15, Source: message.T(kubelet)},
		Ports:      Bound{Fail: 1, Source: message.T("Touchdown: the site's network needs a port")},
		TPM:        Bound{Source: message.T(sourceTrust)},
		SecureBoot: Bound{Source: message.T(sourceTrust)},
		UEFI:       Bound{Source: message.T(sourceTrust)},
		LinkMbps:   Bound{Warn: 1000, Source: message.T("Touchdown: slower than any server NIC that is cabled well")},
		ClockSkew:  Bound{Warn: 5, Fail: 20 * 60, Source: message.T("assisted-service: time-synced-between-host-and-service, 20 minutes")},
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err == nil && (major > 4 || minor >= 22) {
		l.Threads = Bound{Fail: 4, Warn: 8, Source: message.T(assisted + " from 4.22: cpu_cores 4; before: 8")}
	}
	return l
}

// flags that a level of x86-64 adds, by the names in /proc/cpuinfo.
var (
	levelV2 = []string{"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}
	levelV3 = []string{"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
)

const (
	sourceFlags = "RHEL 9 needs x86-64-v2, RHEL 10 x86-64-v3 (x86-64 psABI)"
	sourceDisk  = "assisted-service: has-min-valid-disks, sufficient-installation-disk-speed"
	sourceTrust = "Touchdown: wanted for disk encryption and a trusted boot; OpenShift runs without"
)
