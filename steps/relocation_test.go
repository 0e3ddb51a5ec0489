package steps_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"touchdown/backend/check"
	"touchdown/backend/clock"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/steps"
	"touchdown/steps/site"
)

// answering is a report that gives one answer to every question.
type answering struct {
	*clusterReport
	answer string
	asked  []steps.Question
}

func (r *answering) Ask(_ context.Context, q steps.Question) (string, error) {
	r.asked = append(r.asked, q)
	return r.answer, nil
}

// ntpServer tells the time by at, over real UDP.
func ntpServer(t *testing.T, shift time.Duration) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		b := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if n < 48 {
				continue
			}
			answer := make([]byte, 48)
			answer[0], answer[1] = 4<<3|4, 2
			now := time.Now().Add(shift)
			stamp := uint64(now.Unix()+2208988800)<<32 | uint64(now.Nanosecond())<<32/1e9
			for _, at := range []int{16, 32, 40} {
				for i := range 8 {
					answer[at+i] = byte(stamp >> (56 - 8*i))
				}
			}
			copy(answer[24:32], b[40:48])
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return conn.LocalAddr().String()
}

func TestClock(t *testing.T) {
	right, threeDays := 0*time.Second, 72*time.Hour
	for _, c := range []struct {
		what    string
		shifts  []time.Duration
		answer  string
		moved   time.Duration
		asked   int
		problem string
		status  check.Status
		silent  bool
	}{
		{what: "right", shifts: []time.Duration{right, right}, status: check.Pass},
		{what: "an hour behind", shifts: []time.Duration{time.Hour}, moved: time.Hour, status: check.Pass},
		{what: "one server 3 days off, nobody says yes", shifts: []time.Duration{threeDays}, answer: "keep", asked: 1, status: check.Warn},
		{what: "3 days, agreed to", shifts: []time.Duration{threeDays, threeDays}, answer: "set", moved: threeDays, asked: 1, status: check.Pass},
		{what: "one of three is 3 days off", shifts: []time.Duration{right, threeDays, right}, status: check.Warn},
		{what: "none answers", silent: true, status: check.Warn},
		{what: "the site has none", status: check.Skip},
	} {
		m := hosttest.New(t)
		m.File("/var/lib/kubelet/x", "")
		cfg := site.New()
		for _, s := range c.shifts {
			cfg.Spec.AdditionalNTPSources = append(cfg.Spec.AdditionalNTPSources, ntpServer(t, s))
		}
		if c.silent {
			cfg.Spec.AdditionalNTPSources = []string{"127.0.0.1:9"}
		}
		n := node(m, nil)
		n.Now = func() time.Time { return time.Now().Add(m.Moved()) }
		r := &answering{clusterReport: newReport(), answer: c.answer}
		s := &steps.Clock{Site: cfg}
		if err := s.Inspect(t.Context(), n, r); err != nil || m.Moved() != 0 {
			t.Fatalf("%s: the look moved the clock by %s (%v)", c.what, m.Moved(), err)
		}
		if _, err := s.Plan(t.Context(), n); err != nil || m.Moved() != 0 {
			t.Fatal(err)
		}
		for range 2 { // the second run finds it right
			if err := s.Run(t.Context(), n, r); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		if (m.Moved() - c.moved).Abs() > time.Second {
			t.Errorf("%s: moved by %s", c.what, m.Moved())
		}
		if len(r.asked) < c.asked || c.asked == 0 && len(r.asked) > 0 {
			t.Errorf("%s: asked %d times", c.what, len(r.asked))
		}
		for _, q := range r.asked {
			if q.Default != "keep" {
				t.Errorf("the default is %s", q.Default)
			}
		}
		if got := r.checks["clock"]; got.Status != c.status || strings.Contains(got.Observed.String(), "was kept") != (c.answer == "keep") || strings.Contains(got.Fix.String(), "asks") {
			t.Errorf("%s: the check is %+v", c.what, got)
		}
	}
}

// TestTheTypedTimeGoesOn: a person types the time, reads the review, tries the network; the clock is set to what their watch says by then. Once
// set, the same text is an old time, and so it is where an earlier engine has left it.
func TestTheTypedTimeGoesOn(t *testing.T) {
	m := hosttest.New(t)
	m.File("/var/lib/kubelet/x", "")
	n := node(m, nil)
	var later time.Duration
	n.Now = func() time.Time { return time.Now().Add(later + m.Moved()) }
	cfg, typed, r := site.New(), clock.NewWatch(n.Now), newReport()
	step := func() *steps.Clock { return &steps.Clock{Site: cfg, Typed: typed} } // a list is made again for each look
	types := func(behind time.Duration) {
		cfg.Spec.Time.UTC = n.Now().Add(behind).UTC().Format(time.RFC3339Nano)
		if err := step().Inspect(t.Context(), n, r); err != nil {
			t.Fatal(err)
		}
	}
	moves := func(what string, want time.Duration) {
		t.Helper()
		before := m.Moved()
		if err := step().Run(t.Context(), n, r); err != nil {
			t.Fatal(err)
		}
		if got := m.Moved() - before; (got - want).Abs() > 5*time.Second {
			t.Errorf("%s: the clock moved by %s, want %s", what, got, want)
		}
	}
	types(50 * time.Second)
	later += 12 * time.Minute
	moves("50 s behind", 50*time.Second)
	later += time.Hour
	moves("the step again", 0)
	types(40 * time.Second)
	moves("typed again", 40*time.Second)
	typed = clock.NewWatch(n.Now)
	typed.Found(cfg.Spec.Time.UTC)
	later += time.Hour
	moves("the step again, of another engine", 0)
	if got := r.checks["clock"]; got.Status != check.Pass {
		t.Errorf("a time that was taken: %+v", got)
	}
	r = newReport() // the engine was stopped before the step ran
	moves("typed before this engine", 0)
	if got := r.checks["clock"]; got.Status != check.Warn || !strings.Contains(got.Observed.String(), "started again") {
		t.Errorf("a time of an earlier engine: %+v", got)
	}
	types(30 * time.Second)
	moves("typed once more", 30*time.Second)
	m.File("/etc/kubernetes/kubelet-ca.crt", authority(t, "ca")) // made an hour ago
	later -= 1000 * time.Hour                                    // the battery is dead, and the power failed
	typed = clock.NewWatch(n.Now)
	typed.Found(cfg.Spec.Time.UTC)
	if err := step().Run(t.Context(), n, r); err == nil || !strings.Contains(err.Error(), "CLK-BAD") {
		t.Errorf("a time that was set and is lost: %v", err)
	}
}

// TestHardwareClock: where the machine's time is right, a hardware clock that is wrong is set all the same; where nobody tells the time it is not.
func TestHardwareClock(t *testing.T) {
	for what, c := range map[string]struct {
		told, refused bool
		off           time.Duration
		sets          int
		fix           string
	}{
		"wrong":                   {told: true, off: time.Hour, sets: 1},
		"wrong and cannot be set": {told: true, refused: true, off: time.Hour, sets: 1, fix: "in the firmware's setup"},
		"right":                   {told: true},
		"nobody tells the time":   {off: time.Hour, fix: "in the firmware's setup"},
	} {
		m := hosttest.New(t)
		m.File("/var/lib/kubelet/x", "")
		m.File("/dev/rtc0", "")
		says := func(off time.Duration) {
			m.File("/sys/class/rtc/rtc0/since_epoch", strconv.FormatInt(time.Now().Add(-off).Unix(), 10)+"\n")
		}
		says(c.off)
		m.OnFunc("hwclock", func([]string, []byte) (string, error) {
			if c.refused {
				return "", errors.New("refused")
			}
			says(0)
			return "", nil
		})
		cfg := site.New()
		if c.told {
			cfg.Spec.AdditionalNTPSources = []string{ntpServer(t, 0)}
		}
		r := newReport()
		if err := (&steps.Clock{Site: cfg}).Run(t.Context(), node(m, nil), r); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		sets := 0
		for _, call := range m.Calls() {
			if call == "hwclock --systohc --utc" {
				sets++
			}
		}
		if got := r.checks["clock-battery"]; sets != c.sets || !strings.Contains(got.Fix.String(), c.fix) || (c.fix == "") != (got.Status == check.Pass) {
			t.Errorf("%s: set %d times, %+v", what, sets, got)
		}
	}
}

func TestClockOfABadBatteryAndTypedTime(t *testing.T) {
	m := hosttest.New(t)
	m.File("/var/lib/kubelet/x", "")
	m.File("/etc/kubernetes/kubelet-ca.crt", authority(t, "ca")) // made an hour ago
	n := node(m, nil)
	n.Now = func() time.Time { return time.Now().Add(-1000*time.Hour + m.Moved()) }
	cfg := site.New()
	s := &steps.Clock{Site: cfg}
	err := s.Run(t.Context(), n, newReport())
	if err == nil || !strings.Contains(err.Error(), "CLK-BAD") {
		t.Errorf("a time before the node's certificates: %v", err)
	}
	cfg.Spec.Time.UTC = time.Now().UTC().Add(-2 * time.Hour).Format(time.RFC3339)
	if err := s.Run(t.Context(), n, newReport()); err == nil || m.Moved() != 0 {
		t.Errorf("a typed time before the certificates: moved by %s (%v)", m.Moved(), err)
	}
	cfg.Spec.Time.UTC = time.Now().UTC().Format(time.RFC3339)
	r := newReport()
	for range 2 {
		if err := (&steps.Clock{Site: cfg}).Run(t.Context(), n, r); err != nil {
			t.Fatal(err)
		}
	}
	if (m.Moved()-1000*time.Hour).Abs() > time.Minute || r.checks["clock"].Status != check.Pass {
		t.Errorf("moved by %s: %+v", m.Moved(), r.checks["clock"])
	}
	moved, beyond := m.Moved(), newReport()
	cfg.Spec.Time.UTC = n.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339)
	if err := (&steps.Clock{Site: cfg}).Run(t.Context(), n, beyond); err != nil || m.Moved() != moved {
		t.Errorf("a typed time after the cluster's authorities: moved by %s (%v)", m.Moved()-moved, err)
	}
	if got := beyond.checks["clock"]; got.Status != check.Warn || !strings.HasPrefix(got.Observed.String(), "the time that was typed is not believed: ") || strings.Contains(got.Fix.String(), "servers") {
		t.Errorf("a typed time that cannot be right: %+v", got)
	}
	if err := m.Remove("/etc/kubernetes/kubelet-ca.crt"); err != nil {
		t.Fatal(err)
	}
	cfg.Spec.Time.UTC = n.Now().Add(72*time.Hour + time.Minute).UTC().Format(time.RFC3339)
	nobody := &answering{clusterReport: newReport(), answer: "keep"}
	if err := (&steps.Clock{Site: cfg}).Run(t.Context(), n, nobody); err != nil || m.Moved() != moved || len(nobody.asked) != 1 {
		t.Errorf("moved by %s, asked %d times (%v)", m.Moved()-moved, len(nobody.asked), err)
	}
	if got := nobody.checks["clock"]; got.Status != check.Warn || !strings.Contains(got.Observed.String(), "the machine's time was kept; off by +3 days according to the time that was typed") {
		t.Errorf("what is left of a typed time that was not taken: %+v", got)
	}
	laptop := hosttest.New(t)
	n = node(laptop, nil)
	n.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	if err := (&steps.Clock{Site: cfg}).Run(t.Context(), n, newReport()); err != nil || laptop.Moved() != 0 {
		t.Errorf("someone's laptop was moved by %s (%v)", laptop.Moved(), err)
	}
}

// dnsmasq answers by the address lines of the fake machine's files.
func dnsmasq(t *testing.T, m *hosttest.Fake) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		answer.Rcode = dns.RcodeNameError
		files, _ := m.Glob("/etc/dnsmasq.d/*.conf")
		for _, f := range files {
			for line := range strings.Lines(m.Content(f)) {
				parts := strings.Split(strings.TrimSpace(line), "/")
				if parts[0] == "address=" && strings.HasSuffix("."+q.Question[0].Name, "."+parts[1]+".") {
					answer.Rcode = dns.RcodeSuccess
					answer.Answer = []dns.RR{&dns.A{
						Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET},
						A:   netip.MustParseAddr(parts[2]).AsSlice(),
					}}
				}
			}
		}
		_ = w.WriteMsg(answer)
	})
	server := &dns.Server{PacketConn: conn, Handler: handler}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return conn.LocalAddr().String()
}

func TestLocalNames(t *testing.T) {
	m := hosttest.New(t)
	cfg := site.New()
	cfg.Spec.ClusterName, cfg.Spec.BaseDomain = "store1", "site.example"
	s := &steps.LocalNames{Site: cfg, Server: dnsmasq(t, m)}
	r := newReport()
	if err := s.Run(t.Context(), node(m, nil), r); err != nil {
		t.Errorf("a machine without dnsmasq: %v", err)
	}
	m.File("/etc/dnsmasq.d/single-node.conf", "address=/apps.old.example/192.168.127.10\naddress=/api-int.old.example/192.168.127.10\naddress=/api.old.example/192.168.127.10\n")
	m.File("/etc/NetworkManager/dispatcher.d/forcedns", "")
	m.File("/etc/resolv.conf", "nameserver 192.168.127.10\nnameserver 192.0.2.1\n")
	m.File("/run/NetworkManager/resolv.conf", "nameserver 198.51.100.53\n")
	m.OnFunc("/etc/NetworkManager/dispatcher.d/forcedns", func([]string, []byte) (string, error) {
		m.File("/etc/resolv.conf", "nameserver 192.168.127.10\nnameserver 198.51.100.53\n")
		return "", nil
	})
	plan, err := s.Plan(t.Context(), node(m, nil))
	if err != nil || len(plan.Changes) != 1 || plan.Changes[0].Old.String() != "old.example" {
		t.Errorf("plan is %+v (%v)", plan, err)
	}
	if err := s.Inspect(t.Context(), node(m, nil), r); err != nil || r.checks["local-names"].Status != check.Pass {
		t.Errorf("check is %+v (%v)", r.checks["local-names"], err)
	}
	for i := range 2 {
		m.Forget()
		if err := s.Run(t.Context(), node(m, nil), r); err != nil {
			t.Fatal(err)
		}
		want := []string{"systemctl restart dnsmasq.service", "/etc/NetworkManager/dispatcher.d/forcedns br-ex up"}
		if i == 1 {
			want = nil
		}
		if got := m.Calls(); !slices.Equal(got, want) {
			t.Errorf("run %d: calls are %q", i, got)
		}
	}
	if r.checks["local-names"].Observed.String() != "store1.site.example, old.example" || r.checks["resolv-conf"].Status != check.Pass {
		t.Errorf("checks are %+v", r.checks)
	}
	for range 2 {
		if err := s.Undo(t.Context(), node(m, nil), r); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := m.Glob("/etc/dnsmasq.d/*"); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

// TestLocalNamesOfALaterJob: its undo goes back to the names of the landing before, and one that never ran changes nothing.
func TestLocalNamesOfALaterJob(t *testing.T) {
	const own = "/etc/dnsmasq.d/touchdown-site.conf"
	m := hosttest.New(t)
	m.File("/etc/dnsmasq.d/single-node.conf", "address=/apps.old.example/192.168.127.10\naddress=/api-int.old.example/192.168.127.10\naddress=/api.old.example/192.168.127.10\n")
	m.File("/etc/resolv.conf", "nameserver 192.168.127.10\n")
	server := dnsmasq(t, m)
	job := func(cluster string) *steps.LocalNames {
		cfg := site.New()
		cfg.Spec.ClusterName, cfg.Spec.BaseDomain = cluster, "site.example"
		return &steps.LocalNames{Site: cfg, Server: server}
	}
	if err := job("store1").Run(t.Context(), node(m, nil), newReport()); err != nil {
		t.Fatal(err)
	}
	landed := m.Content(own)
	for _, cluster := range []string{"store1", "store2", ""} {
		r := newReport()
		if cluster != "" {
			if err := job(cluster).Run(t.Context(), node(m, nil), r); err != nil {
				t.Fatal(err)
			}
		}
		if err := job(cluster).Undo(t.Context(), node(m, nil), r); err != nil {
			t.Fatal(err)
		}
		if got := m.Content(own); got != landed {
			t.Errorf("after the undo of a job for %q the node answers\n%s\nand the landing had\n%s", cluster, got, landed)
		}
	}
}

// TestLocalNamesOfACutRun: an engine that ended between the file and the restart of the name server leaves one that does not know the names.
// The next run starts it again, and does not wait for a reboot; so does an undo.
func TestLocalNamesOfACutRun(t *testing.T) {
	reads, m := hosttest.New(t), hosttest.New(t) // what the name server has read, and what lies there
	cfg := site.New()
	cfg.Spec.ClusterName, cfg.Spec.BaseDomain = "store1", "site.example"
	s := &steps.LocalNames{Site: cfg, Server: dnsmasq(t, reads), Answers: time.Millisecond}
	const zone = "address=/apps.old.example/192.168.127.10\naddress=/api-int.old.example/192.168.127.10\naddress=/api.old.example/192.168.127.10\n"
	m.File("/etc/dnsmasq.d/single-node.conf", zone)
	m.File("/etc/resolv.conf", "nameserver 192.168.127.10\n")
	starts := 0
	m.OnFunc("systemctl restart", func([]string, []byte) (string, error) {
		if starts++; starts == 1 {
			return "", nil // the engine was killed before it came to this
		}
		files, _ := m.Glob("/etc/dnsmasq.d/*.conf")
		for _, f := range files {
			reads.File(f, m.Content(f))
		}
		return "", nil
	})
	if err := s.Run(t.Context(), node(m, nil), newReport()); err != nil || starts != 2 {
		t.Fatalf("%v, %d starts", err, starts)
	}
	if err := s.Run(t.Context(), node(m, nil), newReport()); err != nil || starts != 2 {
		t.Errorf("again: %v, %d starts", err, starts)
	}
}

func TestTrust(t *testing.T) {
	m := hosttest.New(t)
	cfg := site.New()
	cfg.Spec.AdditionalTrustBundle, cfg.Spec.IngressCert.CA = authority(t, "site"), authority(t, "apps")
	cfg.Spec.PullSecret = `{"auths":{"reg.site.example":{"auth":"dTpw"}}}`
	s := &steps.Trust{Site: cfg}
	if err := s.Run(t.Context(), node(m, nil), newReport()); err != nil || len(m.Calls()) != 0 {
		t.Errorf("a machine that is not the node: %v %q", err, m.Calls())
	}
	const secret = `{"auths":{"reg.factory.example":{"auth":"dTpm"}}}`
	m.File("/var/lib/kubelet/config.json", secret)
	r := newReport()
	// A power cut after the files were written, before they were made the system's.
	m.On("update-ca-trust", "", errors.New("cut"))
	if err := s.Run(t.Context(), node(m, nil), r); err == nil {
		t.Error("no error")
	}
	m.On("update-ca-trust", "", nil)
	for i := range 2 {
		m.Forget()
		if err := s.Run(t.Context(), node(m, nil), r); err != nil {
			t.Fatal(err)
		}
		want := []string{"update-ca-trust extract", "systemctl try-restart crio.service"}
		if i == 1 {
			want = nil
		}
		if got := m.Calls(); !slices.Equal(got, want) {
			t.Errorf("run %d: calls are %q", i, got)
		}
	}
	first := cfg.Spec.AdditionalTrustBundle
	for _, bundle := range []string{authority(t, "other"), first} { // also one that the node took before: it trusts the last one alone
		m.Forget()
		cfg.Spec.AdditionalTrustBundle = bundle
		if err := s.Run(t.Context(), node(m, nil), r); err != nil || len(m.Calls()) != 2 {
			t.Errorf("another bundle: %v, calls are %q", err, m.Calls())
		}
	}
	if got := m.Content("/var/lib/kubelet/config.json"); !strings.Contains(got, "reg.factory.example") || !strings.Contains(got, "reg.site.example") {
		t.Errorf("credentials are %s", got)
	}
	if got := m.Content("/etc/pki/ca-trust/source/anchors/touchdown-site.crt"); strings.Count(got, "BEGIN") != 2 {
		t.Errorf("the anchor is %s", got)
	}
	for range 2 {
		if err := s.Undo(t.Context(), node(m, nil), r); err != nil {
			t.Fatal(err)
		}
	}
	if m.Content("/var/lib/kubelet/config.json") != secret || m.Exists("/etc/pki/ca-trust/source/anchors/touchdown-site.crt") {
		t.Error("undo left something")
	}
}

func TestKubeletIsReleasedAndHeldBackAgain(t *testing.T) {
	m := hosttest.New(t)
	api, c := kubetest.New(t)
	up := false
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if !up {
			return kubetest.Refuse(w, 503, "ServiceUnavailable", "starting")
		}
		_, _ = w.Write([]byte("ok"))
		return true
	}
	m.File("/var/lib/kubelet/x", "")
	m.File(layout.Armed, "")
	m.OnFunc("systemctl start kubelet.service", func([]string, []byte) (string, error) { up = true; return "", nil })
	s, r := &steps.Kubelet{Limit: 5 * time.Second}, newReport()
	if plan, err := s.Plan(t.Context(), node(m, c)); err != nil || len(plan.Changes) != 1 {
		t.Errorf("plan is %+v (%v)", plan, err)
	}
	for range 2 {
		if err := s.Run(t.Context(), node(m, c), r); err != nil {
			t.Fatal(err)
		}
	}
	if kubelet.Gated(m.Machine) || r.checks["api"].Status != check.Pass {
		t.Errorf("gated %v, checks %+v", kubelet.Gated(m.Machine), r.checks)
	}
	for range 2 {
		if err := s.Undo(t.Context(), node(m, c), r); err != nil {
			t.Fatal(err)
		}
	}
	if !kubelet.Gated(m.Machine) {
		t.Error("undo does not hold the cluster back")
	}
	// One whose cluster ran already keeps running.
	running := hosttest.New(t)
	running.File("/var/lib/kubelet/x", "")
	r = newReport()
	if err := s.Run(t.Context(), node(running, c), r); err != nil {
		t.Fatal(err)
	}
	if err := s.Undo(t.Context(), node(running, c), r); err != nil || kubelet.Gated(running.Machine) {
		t.Errorf("a running cluster was held back (%v)", err)
	}
}

func TestHostname(t *testing.T) {
	m := hosttest.New(t)
	api, c := kubetest.New(t)
	m.File("/var/lib/kubelet/x", "")
	m.File("/etc/hostname", "old\n")
	api.Put("/api/v1/nodes/old", `{"metadata":{"labels":{"site":"store1"}}}`)
	m.OnFunc("hostnamectl hostname", func(argv []string, _ []byte) (string, error) {
		m.File("/etc/hostname", argv[2]+"\n")
		m.File("/proc/sys/kernel/hostname", argv[2]+"\n")
		return "", nil
	})
	cfg := site.New()
	cfg.Spec.Hostname = "new"
	s, r := &steps.Hostname{Site: cfg, Limit: 2 * time.Second}, newReport()
	if s.Skip().String() == "" {
		t.Error("done although the policy does not allow it")
	}
	cfg.Spec.Policy.AllowHostnameChange = true
	if s.Skip().String() != "" {
		t.Error("not done although it is allowed")
	}
	plan, err := s.Plan(t.Context(), node(m, c))
	if err != nil || len(plan.Permanent) == 0 || len(plan.Disturbances) == 0 {
		t.Errorf("plan is %+v (%v)", plan, err)
	}
	for range 2 { // the engine was restarted before the machine went down
		if _, reboot := errors.AsType[*steps.Reboot](s.Run(t.Context(), node(m, c), r)); !reboot {
			t.Fatal("no reboot")
		}
	}
	if api.Get("/api/v1/nodes/old") != "" {
		t.Error("the old node is still there")
	}
	m.Boot()
	now := time.Now().UTC().Format(time.RFC3339)
	api.Put("/api/v1/nodes/new", `{"metadata":{"labels":{"kubernetes.io/hostname":"new"}},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"`+now+`"}]}}`)
	pki(t, m)
	for range 2 {
		if err := s.Run(t.Context(), node(m, c), r); err != nil {
			t.Fatal(err)
		}
	}
	if got := api.Get("/api/v1/nodes/new", "metadata", "labels", "site"); got != `"store1"` {
		t.Errorf("the label is %s", got)
	}
}

// pki gives the kubelet good certificates.
func pki(t *testing.T, m *hosttest.Fake) {
	t.Helper()
	for _, kind := range []string{"client", "server"} {
		m.File("/var/lib/kubelet/pki/kubelet-"+kind+"-current.pem", authority(t, kind))
	}
}

// TestNoBootWaitsForATimeServerThatIsNotThere: OpenShift holds kubelet back until the clock agrees with a time server. A site
// without one gets rid of that; undo brings it back, and a site with one keeps it.
func TestNoBootWaitsForATimeServerThatIsNotThere(t *testing.T) {
	const ask, dropIn = "systemctl show --property=LoadState,WantedBy chrony-wait.service", "/etc/systemd/system/chrony-wait.service.d/50-touchdown.conf"
	for _, c := range []struct {
		what, unit, server string
		want               []string
	}{
		{"a site without", "LoadState=loaded\nWantedBy=kubelet-dependencies.target\n", "", []string{
			"systemctl daemon-reload", "systemctl stop chrony-wait.service", "systemctl reset-failed chrony-wait.service", "systemctl daemon-reload",
		}},
		{"no systemd", "", "", nil},
		{"before OpenShift 4.17", "LoadState=loaded\nWantedBy=\n", "", nil},
		{"masked by someone else", "LoadState=masked\nWantedBy=kubelet-dependencies.target\n", "", nil},
		{"a site with one that does not answer", "LoadState=loaded\nWantedBy=kubelet-dependencies.target\n", "127.0.0.1:9", nil},
		{"a site with one", "LoadState=loaded\nWantedBy=kubelet-dependencies.target\n", ntpServer(t, 0), nil},
	} {
		m := hosttest.New(t)
		m.File("/var/lib/kubelet/x", "")
		var down error
		if c.unit == "" {
			down = errors.New("System has not been booted with systemd")
		}
		m.On(ask, c.unit, down)
		cfg := site.New()
		if c.server != "" {
			cfg.Spec.AdditionalNTPSources = []string{c.server}
		}
		s, r := &steps.Clock{Site: cfg}, newReport()
		plan, err := s.Plan(t.Context(), node(m, nil))
		if err != nil || len(plan.Changes) > 0 != (c.want != nil) {
			t.Errorf("%s: the plan is %+v (%v)", c.what, plan, err)
		}
		if err := s.Run(t.Context(), node(m, nil), r); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if m.Exists(dropIn) != (c.want != nil) {
			t.Errorf("%s: is the drop-in there: %v", c.what, m.Exists(dropIn))
		}
		if err := s.Undo(t.Context(), node(m, nil), r); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if m.Exists(dropIn) {
			t.Errorf("%s: the drop-in is there after the undo", c.what)
		}
		got := slices.DeleteFunc(m.Calls(), func(call string) bool { return call == ask })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: calls are %q", c.what, got)
		}
	}
}
