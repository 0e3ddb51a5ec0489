package factory_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// quietFor is how long a unit that tries again every 2 seconds is watched.
const quietFor = 7 * time.Second

// TestLines looks at the lines of a baked node: who owns them, and that each one takes a login whatever is missing.
func TestLines(t *testing.T) {
	m := node.Start(t, node.Options{})
	lay(t, m)
	must(t, m, uplinkProfile+" && sync")
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout(time.Minute))
	defer cancel()
	if err := m.Reboot(ctx); err != nil {
		t.Fatal(err)
	}
	// All that was tried since the boot, and what came of it.
	const starts = "journalctl --boot --no-pager --output cat | grep -cE 'Scheduled restart|status=203|status=208|Failed to execute' || true"
	t.Run("the program is not there yet", func(t *testing.T) {
		await(t, m, 30*time.Second, "test $(systemctl show -P ConditionTimestampMonotonic touchdown-consoles) != 0")
		await(t, m, 30*time.Second, "for unit in getty@tty1 serial-getty@ttyS0; do systemctl is-active $unit || exit; done")
		const gettys = "systemctl show -P MainPID getty@tty1 serial-getty@ttyS0"
		before := must(t, m, gettys)
		time.Sleep(quietFor)
		if now := must(t, m, gettys); now != before {
			t.Errorf("the logins did not stay: %q, %q", before, now)
		}
		if tried := must(t, m, starts); tried != "0" {
			t.Errorf("%s attempts to run what is not there:\n%s", tried, must(t, m, "journalctl --boot --no-pager -n 20 -u 'touchdown*'"))
		}
	})
	t.Run("a console is started without the program", func(t *testing.T) {
		must(t, m, "systemctl start touchdown-console@tty1")
		await(t, m, 20*time.Second, "systemctl is-active touchdown-login@tty1 && pgrep -f 'agetty.* tty1 '")
		time.Sleep(quietFor)
		must(t, m, "systemctl is-active touchdown-login@tty1")
	})
	if err := m.Program(); err != nil {
		t.Fatal(err)
	}
	t.Run("the login has the speed of the line alone", func(t *testing.T) {
		must(t, m, "systemctl start touchdown-login@tty1 touchdown-login@ttyS0")
		const args = "tr '\\0' ' ' </proc/$(systemctl show -P MainPID touchdown-login@ttyS0)/cmdline"
		await(t, m, 10*time.Second, args+" | grep -q noclear")
		got := must(t, m, args)
		if want := " --noclear --timeout 120 " + must(t, m, "stty -F /dev/ttyS0 speed") + " ttyS0 vt220"; !strings.HasSuffix(got, want) {
			t.Errorf("%q does not end in %q", got, want)
		}
	})
	t.Run("a login that nobody uses", func(t *testing.T) {
		must(t, m, "systemctl kill -s ALRM touchdown-login@tty1 touchdown-login@ttyS0")
		await(t, m, 20*time.Second, "for line in tty1 ttyS0; do systemctl is-active touchdown-console@$line || exit; done")
	})
	t.Run("the first page is there", func(t *testing.T) { firstPages(t, m) })
	t.Run("what the console and the engine can reach", func(t *testing.T) {
		must(t, m, "systemctl start touchdown-engine")
		await(t, m, 20*time.Second, "grep -q 'CapEff:.0000000000000000' /proc/$(systemctl show -P MainPID touchdown-console@tty1)/status")
		const in = "nsenter -m -t $(systemctl show -P MainPID touchdown-console@tty1) "
		must(t, m, in+"touch /var/tmp/bundle && test -e /var/tmp/bundle") // people copy it from there
		must(t, m, "! "+in+"touch /etc/mark 2>/dev/null && ! "+in+"touch /var/lib/mark 2>/dev/null")
		must(t, m, "test $(readlink /proc/1/ns/mnt) = $(readlink /proc/$(systemctl show -P MainPID touchdown-engine)/ns/mnt)")
		must(t, m, "test -e /run/touchdown/lines/tty1") // the kernel is kept from writing over it
	})
	t.Run("a program that dies", func(t *testing.T) {
		must(t, m, `printf '#!/bin/sh\nexit 2\n' >/usr/local/bin/dies && chmod 755 /usr/local/bin/dies && mount --bind /usr/local/bin/dies /usr/local/bin/touchdown`)
		defer must(t, m, "umount --lazy /usr/local/bin/touchdown && rm /usr/local/bin/dies; systemctl reset-failed touchdown-console@tty1; systemctl start touchdown-console@tty1")
		const limits = "journalctl --boot --no-pager --output cat -u touchdown-console@tty1 | grep -c 'repeated too quickly'"
		before := must(t, m, limits+" || true")
		must(t, m, "systemctl kill -s KILL touchdown-console@tty1")
		await(t, m, time.Minute, "test $("+limits+") != "+before+" && systemctl is-active touchdown-login@tty1 && pgrep -f 'agetty.* tty1 '")
		// The login ends at once, and the console that follows is at its limit: the next login comes all the same.
		const login = "systemctl show -P MainPID touchdown-login@tty1"
		first := must(t, m, login)
		must(t, m, "systemctl kill -s ALRM touchdown-login@tty1")
		await(t, m, time.Minute, "systemctl is-active touchdown-login@tty1 && pgrep -f 'agetty.* tty1 ' && test $("+login+") != "+first)
	})
	t.Run("a line without hardware", func(t *testing.T) {
		must(t, m, "systemctl stop touchdown-console@ttyS0; systemctl stop touchdown-login@ttyS0 serial-getty@ttyS0")
		// Like a port that the kernel has and the machine has not, it answers every request with EIO.
		if err := m.Console("ttyS0").Close(); err != nil {
			t.Fatal(err)
		}
		await(t, m, 20*time.Second, "stty -F /dev/ttyS0 2>&1 | grep -q 'Input/output error'") // once whoever had it open let it go
		must(t, m, "systemctl restart touchdown-consoles; journalctl --sync")
		must(t, m, "journalctl --boot --no-pager -u touchdown-consoles | grep -q 'no wizard on ttyS0.*Input/output error'")
		// The login that was stopped starts the console again, which ends as the line does, and leaves it to a login, which ends too.
		await(t, m, 20*time.Second, `for unit in touchdown-console@ttyS0 touchdown-login@ttyS0; do
			case $(systemctl show -P ActiveState $unit) in failed | inactive) ;; *) exit 1 ;; esac
		done; ! systemctl list-jobs --no-legend | grep ttyS0`)
		must(t, m, "systemctl is-active touchdown-console@tty1 && systemctl reset-failed 'touchdown-*@ttyS0.service'")
		const tried = "journalctl --boot --no-pager --output cat UNIT=touchdown-console@ttyS0.service + UNIT=touchdown-login@ttyS0.service | grep -cE '^Start'"
		before := must(t, m, tried)
		// Someone starts it anyway.
		must(t, m, "systemctl start touchdown-console@ttyS0 || true")
		await(t, m, 20*time.Second, "systemctl is-failed touchdown-login@ttyS0")
		count := must(t, m, tried)
		time.Sleep(quietFor)
		if now := must(t, m, tried); now != count {
			t.Errorf("it is tried again and again: %s, %s and %s starts", before, count, now)
		}
	})
}
