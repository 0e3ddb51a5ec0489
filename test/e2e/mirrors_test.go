package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/person"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// Where the images of the cluster's release come from, and where the site has them.
const (
	released = "quay.io/openshift-release-dev/ocp-v4.0-art-dev"
	mirrored = site.RegistryName + "/ocp/release"
)

// TestMirrorsAndCAsFromAStick: the people of a site put their files on a stick as it comes from a shop. A technician takes mirrors and CAs from
// it on the page of the advanced settings, is told of the wrong files, and lands the node. Node and cluster have both then.
func TestMirrorsAndCAsFromAStick(t *testing.T) {
	l := landing.Start(t, landing.Options{Network: edge()})
	ctx := wait.Within(t, 6*time.Minute)
	p := begin(t, l)
	defer func() { t.Log("\n" + p.Transcript()) }()
	if err := l.Node.Plate(ctx, stickSerial); err != nil {
		t.Fatal(err)
	}
	hardware(p)
	addresses(p, "198.51.100.1")
	p.GoesOn("Stage 3 of 7: Names and credentials")
	p.Fill("Cluster name", "store0051")
	p.Fill("Base domain", "retail.example.com")
	p.At("[ Advanced settings")
	p.Keep("The page of the names, with the button of the advanced settings in focus")
	p.Types("\r")
	p.Shows("Mirrors, by digest")

	ca := string(l.Site.Registry.CA())
	pull := plugFiles(ctx, t, l, filesOfSite(ca))
	chooses(p, "Mirrors, by digest", "delivery note 0051.txt", "with its keys source, mirrors")
	takes(p, "Mirrors, by digest", "idms-oc-mirror.yaml", "3 lines")
	chooses(p, "CAs of registries", "registry-ca.pem", `take it as "Trusted CAs of the site"`)
	takes(p, "CAs of registries", "registry-cas.yaml", "lines")
	chooses(p, "Trusted CAs of the site", "site-ca damaged.pem", "is cut off or damaged")
	takes(p, "Trusted CAs of the site", "registry-ca.pem", "set, not shown")
	if err := pull(); err != nil {
		t.Fatal(err)
	}
	p.GoesOn("Time now (UTC)")
	p.GoesOn("Stage 5 of 7: Image store")
	p.GoesOn("Review: nothing was changed so far")
	reviewTells(t, p, "Images by digest: (none) -> "+released+" from "+mirrored, "Authorities of registries: (none) -> added for "+site.RegistryName,
		"Trusted authorities: (none) -> also CN=site registry CA", "Mirrors, by digest: from idms-oc-mirror.yaml on stick STORE0051",
		"CAs of registries: from registry-cas.yaml on stick STORE0051", "Trusted CAs of the site: from registry-ca.pem on stick STORE0051")
	start(p)
	p.Shows("This node has landed.")
	p.Keep("Landed")
	clusterHasMirrorsAndCAs(ctx, t, l, ca)
	nodeHasMirrorsAndCAs(ctx, t, l, p, ca)
	p.Leave(os.Getenv("TRANSCRIPT"))
}

// filesOfSite are the right files for three fields, and what lies beside them.
func filesOfSite(ca string) map[string]string {
	cas := fmt.Sprintf("- registryHostname: %s\n  certificate: |\n", site.RegistryName)
	for line := range strings.Lines(ca) {
		cas += "    " + line
	}
	return map[string]string{
		"idms-oc-mirror.yaml": "---\napiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata:\n  name: idms-release-0\nspec:\n  imageDigestMirrors:\n" +
			"  - mirrors:\n    - " + mirrored + "\n    source: " + released + "\nstatus: {}\n",
		"registry-cas.yaml":      cas,
		"registry-ca.pem":        ca,
		"site-ca damaged.pem":    strings.Replace(ca, "\n", "\n%", 3),
		"delivery note 0051.txt": "Store 0051, 1 server, 2 rails, 4 screws.\nAsk for Frida at the gate.\n",
	}
}

// plugFiles has other programs than Touchdown make a stick with files, and plugs it in.
func plugFiles(ctx context.Context, t *testing.T, l *landing.Landing, files map[string]string) (pull func() error) {
	t.Helper()
	dir, image := t.TempDir(), filepath.Join(t.TempDir(), "stick.img")
	run := func(argv ...string) {
		t.Helper()
		if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", argv, err, out)
		}
	}
	run("mkfs.vfat", "-n", "STORE0051", "-C", image, "16384")
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run("mcopy", "-i", image, file, "::/"+name)
	}
	pull, err := l.Node.Insert(ctx, image)
	if err != nil {
		t.Fatal(err)
	}
	return pull
}

// chooses takes a wrong file for a field. The reason stands where the list is.
func chooses(p *person.Person, field, file, why string) {
	p.At(field)
	p.Types("\x0f") // Ctrl-O
	p.Until("the files on the stick", func(s string) bool {
		return strings.Contains(s, field+": choose a file on a stick") && strings.Contains(s, file)
	})
	p.Keep("The files for: " + field)
	toFile(p, file)
	p.Types("\r")
	p.Until("why it is not taken", func(s string) bool { return strings.Contains(flat(s), why) })
	p.Keep("Not taken for " + field + ": " + file)
}

// takes takes the right file from the list that is on the screen.
func takes(p *person.Person, field, file, shown string) {
	toFile(p, file)
	p.Types("\r")
	p.Whole("the value of "+file, func(s string) bool {
		return strings.Contains(s, "Taken from the file "+file) && strings.Contains(s, shown) && strings.Contains(s, "  "+file+"\n")
	})
	p.Keep("Taken for " + field + ": " + file)
}

// toFile goes to a file in the list that is on the screen.
func toFile(p *person.Person, file string) {
	for range 20 {
		if screen := p.Until("a file in focus", func(s string) bool { return strings.Contains(s, "\n  > ") }); strings.Contains(screen, "\n  > "+file+" ") {
			return
		}
		p.Types("\x1b[B") // Down
	}
	p.Shows("  > " + file + " ")
}

// flat is a screen without its line breaks.
func flat(screen string) string { return strings.Join(strings.Fields(screen), " ") }

// reviewTells turns the pages of the review, and wants them to tell all of it.
func reviewTells(t *testing.T, p *person.Person, wants ...string) {
	t.Helper()
	var all strings.Builder
	for page := 1; page <= 10; page++ {
		screen := p.Whole("a page of the review", func(s string) bool {
			return strings.Contains(s, "--- lines ") && !strings.Contains(s, "Looking at what")
		})
		p.Keep(fmt.Sprint("The review, page ", page))
		all.WriteString(screen)
		p.Types("\x1b[6~") // PgDn
		if p.Screen() == screen {
			break
		}
	}
	for _, want := range wants {
		if !strings.Contains(flat(all.String()), want) {
			t.Errorf("the review does not tell %q", want)
		}
	}
}

// clusterHasMirrorsAndCAs reads the objects by which OpenShift's components learn of them.
func clusterHasMirrorsAndCAs(ctx context.Context, t *testing.T, l *landing.Landing, ca string) {
	t.Helper()
	read, done, err := reader(ctx, l)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	const configs, maps = "/apis/config.openshift.io/v1/", "/api/v1/namespaces/openshift-config/configmaps/"
	for _, want := range []struct {
		path, value string
		at          []string
	}{
		{configs + "imagedigestmirrorsets/touchdown-site", fmt.Sprintf(`[{"mirrors":[%q],"source":%q}]`, mirrored, released), []string{"spec", "imageDigestMirrors"}},
		{configs + "images/cluster", `"touchdown-registry-cas"`, []string{"spec", "additionalTrustedCA", "name"}},
		{maps + "touchdown-registry-cas", text(ca), []string{"data", site.RegistryName}},
		{configs + "proxies/cluster", `"user-ca-bundle"`, []string{"spec", "trustedCA", "name"}},
		{maps + "user-ca-bundle", text(ca), []string{"data", "ca-bundle.crt"}},
	} {
		o, err := read(want.path)
		if got := text(o.at(want.at...)); err != nil || got != want.value {
			t.Errorf("%s has %s, %v; want %s", want.path, got, err, want.value)
		}
	}
}

// nodeHasMirrorsAndCAs reads what the Machine Config Operator and the landing made of them on the node, and has CRI-O pull an image of the
// release that nobody has: it asks the mirror for it, whose certificate it trusts by the site's CA alone.
func nodeHasMirrorsAndCAs(ctx context.Context, t *testing.T, l *landing.Landing, p *person.Person, ca string) {
	t.Helper()
	for file, want := range map[string]string{
		"/etc/containers/registries.conf":                                      `location = "` + mirrored + `"`,
		"/etc/docker/certs.d/" + site.RegistryName + "/ca.crt":                 ca,
		"/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt": ca,
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem":                    strings.TrimSpace(ca),
		"/var/lib/touchdown/report.txt":                                        "Image registry " + site.RegistryName + ": It answers, and its",
	} {
		if data, err := l.Node.ReadFile(file); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, has no %s:\n%s", file, err, want, data)
		}
	}
	before := l.Site.Registry.Served().Requests
	said, err := l.Node.Shell(ctx, "grep -v '^$' /etc/containers/registries.conf; crictl pull "+released+"@sha256:"+strings.Repeat("0", 64)+" 2>&1 || true")
	p.Note("The node: where images of the release come from, and CRI-O's answer for one that nobody has", said)
	if asked := l.Site.Registry.Served().Requests; err != nil || asked == before {
		t.Errorf("CRI-O asked the mirror for nothing: %v\n%s", err, said)
	}
}
