package network_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var (
	cuts = flag.Int("cuts", 3, "power cuts at random instants of a trial")
	seed = flag.Uint64("seed", 7, "of the instants")
)

// TestUnkeptSettingsArePutBack is rule 2: the power is taken away in a trial. What a step then does is little: where the
// decision was noted it keeps on, else it puts back. Nothing in between may be left.
func TestUnkeptSettingsArePutBack(t *testing.T) {
	b := boot(t, hasFactory, func(*bench) {})
	originals := b.must("originals", request{}).Originals
	q := request{Settings: onOtherPort(), Originals: originals, Rollback: trial}
	cut := func(flush bool) {
		t.Helper()
		if err := b.node.PowerCut(b.within(time.Minute), flush); err != nil {
			t.Fatal(err)
		}
		if err := b.node.Boot(b.within(time.Minute)); err != nil {
			t.Fatal(err)
		}
		b.await(60*time.Second, "ip -o -4 address show br-ex | grep -q 192.168.127.10/ && test $(systemctl is-active ovs-configuration) != activating")
	}

	// In the trial: nothing of it was ever on the disk.
	b.must("apply", q)
	cut(false)
	b.await(60*time.Second, hasFactory)
	b.asInFactory()

	random := rand.New(rand.NewPCG(*seed, 0))
	t.Logf("seed %d", *seed)
	for i := range *cuts {
		b.must("putback", q)
		b.shell("rm -f " + decision + "; sync")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for _, op := range []string{"apply", "await", "keep"} {
				cmd, err := b.node.Command(context.Background(), "env", inside+"="+op, tool)
				if err != nil {
					return
				}
				cmd.Stdin = strings.NewReader(encode(t, q))
				_ = cmd.Run()
			}
		}()
		instant := time.Duration(random.IntN(6000)) * time.Millisecond
		select {
		case <-time.After(instant): // the moment is drawn
		case <-ended:
		}
		cut(i%2 == 0)
		<-ended
		decided := b.shell("cat "+decision+" 2>/dev/null || true") == "kept"
		t.Logf("cut after %s, decided: %v", instant, decided)
		if decided {
			b.must("commit", q)
			b.await(15*time.Second, hasSite)
			if a := b.must("inforce", q); !a.Done {
				t.Fatal("what was decided is not in force")
			}
		} else {
			b.must("putback", q)
			b.await(60*time.Second, hasFactory)
			if got := b.shell("ls /etc/NetworkManager/system-connections; ovs-vsctl list-ports br-ex"); got != "enp1s0.nmconnection\nenp1s0" {
				t.Fatalf("put back, but there is %q", got)
			}
		}
	}
}
