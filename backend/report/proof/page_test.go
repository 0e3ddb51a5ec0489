package proof_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/assets"
	"touchdown/backend/report"
	"touchdown/test/wait"
)

// verdict is what the page says of one case.
type verdict struct {
	Status string `json:"status"`
	Title  string `json:"title"`
	Why    string `json:"why"`
	Found  struct {
		Serial  string `json:"serial"`
		Verdict string `json:"verdict"`
		ID      string `json:"id"`
		Digest  string `json:"digest"`
	} `json:"found"`
}

// node runs the script of the page with Node, and a line of its own behind it that answers input.
func node(t *testing.T, line string, input, output any) {
	t.Helper()
	nodeIn(t, "", line, input, output)
}

// nodeIn is node with something before the script of the page, which can take the place of a browser.
func nodeIn(t *testing.T, browser, line string, input, output any) {
	t.Helper()
	program := wait.Program(t, "node")
	_, script, _ := strings.Cut(assets.ReportPage, "<script>\n")
	script, _, ok := strings.Cut(script, "</script>")
	if !ok {
		t.Fatal("the page has no script")
	}
	file := filepath.Join(t.TempDir(), "page.cjs")
	if err := os.WriteFile(file, []byte(browser+script+"\nconst input = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"+line), 0o600); err != nil {
		t.Fatal(err)
	}
	given, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, file)
	cmd.Stdin = bytes.NewReader(given)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, complaints.String())
	}
	if err := json.Unmarshal(out, output); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// given is a case for the page.
type given struct {
	name, want  string
	Text, Trust string
	Plain       bool // without the browser's own Ed25519 and SHA-256
}

// cases are signed reports and labels, good and changed, with whom to trust, and what the page has to say.
func cases(t *testing.T) (all []given) {
	t.Helper()
	k := key(t)
	d := document()
	d.Node.Serial = "SN \u00fc/1&<b>"
	p, other := signed(t, d, k), signed(t, document(), key(t))
	line := func(serial, key string) string {
		text, err := json.Marshal(map[string]any{"format": 1, "serial": serial, "reportKey": key})
		if err != nil {
			t.Fatal(err)
		}
		return string(text) + "\n"
	}
	ledger := line("SN-1", other.Key.String()) + line(d.Node.Serial, p.Key.String()) + line(document().Node.Serial, p.Key.String())
	for _, plain := range []bool{false, true} {
		for name, text := range map[string]string{"report": string(p.Signed), "pasted report": " " + strings.TrimSpace(string(p.Signed)) + "\r\n", "label": p.Label} {
			for trust, want := range map[string]string{
				"": "unknown", ledger: "good", string(p.Key.PEM()): "good", string(other.Key.PEM()) + string(p.Key.PEM()): "good",
				string(other.Key.PEM()): "bad", line("SN-1", p.Key.String()): "unknown", line(d.Node.Serial, other.Key.String()): "bad", "nonsense": "unknown",
				line(d.Node.Serial, ""): "unknown", line(d.Node.Serial, p.Key.String()) + line(d.Node.Serial, other.Key.String()): "good",
				"(too large to read here)": "unknown", "(could not be read)": "bad",
			} {
				all = append(all, given{fmt.Sprintf("%s, plain %t, %.40q", name, plain, trust), want, text, trust, plain})
			}
		}
		changed := func(text string, step int) {
			for i := 0; i < len(text); i += step {
				to := byte('A')
				if text[i] == 'A' {
					to = 'B'
				}
				all = append(all, given{fmt.Sprintf("byte %d of %d, plain %t", i, len(text), plain), "bad", text[:i] + string(to) + text[i+1:], ledger, plain})
			}
		}
		if plain { // some 20 ms each
			changed(string(p.Signed), 97)
			changed(p.Label, 7)
		} else {
			changed(strings.TrimSpace(string(p.Signed)), 7)
			changed(p.Label, 1)
		}
		for name, text := range map[string]string{
			"too large": "(too large to read here)", "unreadable": "(could not be read)", "half an escape": strings.Replace(p.Label, "%", "%%", 1),
			"nonsense": "nonsense", "null": "null", "empty": "{}", "long": strings.Repeat("[", 1<<16), "label without a signature": strings.Split(p.Label, "&sig=")[0],
			"signed by another": strings.Replace(string(p.Signed), p.Key.ID(), other.Key.ID(), 1), "the result": string(forge(t, k, `"WARNED"`, `"PASSED"`)),
			"the verdict in its label": string(forge(t, k, `verdict=landed`, `verdict=Landed`)),
			"a key twice":              string(forge(t, k, `"result": "WARNED"`, `"result": "WARNED", "result": "WARNED"`)),
		} {
			all = append(all, given{name, "bad", text, ledger, plain})
		}
		all = append(all, given{"nothing", "", " \n", ledger, plain})
	}
	return all
}

// TestPage runs the script of the offline page over signed reports: it says what `touchdown report verify` says, with the
// cryptography of the platform and with its own.
func TestPage(t *testing.T) {
	all := cases(t)
	var said []verdict
	node(t, `(async () => { const all = []; for (const c of input) all.push(await judge(c.Text, c.Trust, c.Plain)); console.log(JSON.stringify(all)) })()`, all, &said)
	if len(said) != len(all) {
		t.Fatalf("%d answers to %d cases", len(said), len(all))
	}
	counts := map[string]int{}
	for i, c := range all {
		counts[said[i].Status]++
		if said[i].Status != c.want || said[i].Status == "good" && (said[i].Found.Serial != "SN \u00fc/1&<b>" || said[i].Found.Verdict != "landed, with warnings, 1 waived") {
			t.Errorf("%s: %+v, want %q", c.name, said[i], c.want)
		}
		// A public key says nothing of a serial number, and a ledger without the serial number nothing of the key.
		if byKey := strings.Contains(said[i].Title, "a key that you gave"); c.want == "good" && byKey != strings.HasPrefix(c.Trust, "-----BEGIN") {
			t.Errorf("%s: %s", c.name, said[i].Title)
		}
		if c.want == "unknown" && !strings.HasPrefix(said[i].Title, "Unchanged since it was signed. Whose key it is, ") {
			t.Errorf("%s: %s", c.name, said[i].Title)
		}
	}
	t.Logf("%d cases: %v", len(all), counts)
}

// fakeBrowser is as much of a browser as the page needs.
const fakeBrowser = `
const heard = {}, elements = {};
const newElement = id => ({ id, value: "", textContent: "", className: "", kids: [],
  addEventListener(name, f) { heard[id + " " + name] = f }, replaceChildren() { this.kids = [] },
  appendChild(e) { this.kids.push(e); return e }, insertRow() { return this.appendChild(newElement("")) } });
globalThis.document = { getElementById: id => elements[id] ||= newElement(id), createElement: newElement,
  addEventListener(name, f) { heard[name] = f }, body: { classList: { add() {}, remove() {} } } };
globalThis.addEventListener = (name, f) => { heard[name] = f };
globalThis.location = { hash: "#%zz" };
`

// TestPageTakesFiles: while a file is read the page shows no result of another one, and a file that cannot be read is no good one.
func TestPageTakesFiles(t *testing.T) {
	k := key(t)
	p := signed(t, document(), k)
	var said [][2]string
	nodeIn(t, fakeBrowser, `(async () => {
  const result = document.getElementById("result"), says = () => [result.className, (result.kids[0] || {}).textContent || ""], all = [];
  const until = async title => {
    for (let i = 0; i < 4000 && !says()[1].startsWith(title); i++) await new Promise(r => setTimeout(r, 5));
    all.push(says());
  };
  const choose = (id, size, text) => heard[id + " change"]({ target: { files: [{ size, text }] } });
  await until("REFUSED"); // half an escape in the address
  location.hash = "#" + encodeURIComponent(input.Label);
  heard.hashchange();
  await until("Unchanged");
  let yes, no;
  choose("file", 1, () => new Promise((_, f) => { no = f }));
  all.push(says());
  no(new Error("gone"));
  await until("The report could not be read");
  choose("file", 1e9);
  await until("REFUSED");
  choose("file", 1, () => new Promise(f => { yes = f }));
  choose("file", 1, async () => input.Signed);
  await until("Unchanged");
  yes("nonsense"); // too late
  choose("trustfile", 1e9);
  await until("Unchanged since it was signed. Whose key it is, this page");
  choose("trustfile", 1, async () => input.PEM);
  await until("Unchanged, and");
  console.log(JSON.stringify(all));
})()`, map[string]string{"Label": p.Label, "Signed": string(p.Signed), "PEM": string(p.Key.PEM())}, &said)
	want := [][2]string{
		{"bad", "REFUSED: do not rely on it."},
		{"unknown", "Unchanged since it was signed. Whose key it is, nobody has said yet."},
		{"", "Reading ..."},
		{"bad", "The report could not be read."},
		{"bad", "REFUSED: do not rely on it."},
		{"unknown", "Unchanged since it was signed. Whose key it is, nobody has said yet."},
		{"unknown", "Unchanged since it was signed. Whose key it is, this page cannot tell."},
		{"good", "Unchanged, and signed with a key that you gave."},
	}
	if !slices.Equal(said, want) {
		t.Errorf("the page says %q, want %q", said, want)
	}
}

// TestPageHashes: the page's own SHA-256 and SHA-512 are those of Go, around the sizes at which a block ends.
func TestPageHashes(t *testing.T) {
	var texts []string
	for n := range 260 {
		texts = append(texts, strings.Repeat("touchdown", 30)[:n])
	}
	var said [][2]string
	node(t, `console.log(JSON.stringify(input.map(x => [hex(sha(32, encoder.encode(x))), hex(sha(64, encoder.encode(x)))])))`, texts, &said)
	for i, text := range texts {
		if want := [2]string{fmt.Sprintf("%x", sha256.Sum256([]byte(text))), fmt.Sprintf("%x", sha512.Sum512([]byte(text)))}; said[i] != want {
			t.Fatalf("%d bytes: %v, want %v", i, said[i], want)
		}
	}
}

// TestPageIsOneSmallFile: it is at most 50 KB, loads nothing, and writes no text as HTML.
func TestPageIsOneSmallFile(t *testing.T) {
	page := assets.ReportPage
	if len(page) > 50_000 || !strings.Contains(page, `content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"`) {
		t.Errorf("%d bytes", len(page))
	}
	for _, word := range []string{"src=", "href=", ": url(", "import(", "fetch", "XMLHttp", "WebSocket", "sendBeacon", "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "localStorage"} {
		if strings.Contains(page, word) {
			t.Errorf("the page has %s", word)
		}
	}
	if strings.Count(page, "http") != strings.Count(page, "https://in-toto.io/")+1 { // and http-equiv
		t.Error("the page names an address")
	}
	for i, r := range page {
		if r > '~' || r < ' ' && r != '\n' {
			t.Errorf("byte %d is %q", i, r)
		}
	}
}

// browsers are the names of Chromium's programs.
var browsers = []string{"chromium", "chromium-headless-shell", "chromium-browser", "google-chrome", "headless_shell"}

// TestPageInABrowser opens the page in Chromium, as a person opens the file, and reads what it shows.
func TestPageInABrowser(t *testing.T) {
	program := ""
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("skipped: no Chromium is installed; TestPage runs the script with Node")
	}
	if out, err := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "about:blank").Output(); err != nil || !strings.Contains(string(out), "<html>") {
		t.Skipf("skipped: %s does not start here (%v)", program, err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(assets.ReportPage), 0o600); err != nil {
		t.Fatal(err)
	}
	d := document()
	d.Node.Serial = "<img src=x onerror=alert(1)>"
	p := signed(t, d, key(t))
	two, both, _ := byTwo(t)
	for _, c := range []struct{ Text, Want, Digest string }{
		{string(p.Signed), "Unchanged since it was signed.", report.Digest(p.JSON)},
		{p.Label, "Unchanged since it was signed.", report.Digest(p.JSON)},
		{string(both), "NOT CHECKED by this page", report.Digest(two.JSON)},
		{string(two.Signed), "MISSING: this file has the signature of the node alone", report.Digest(two.JSON)},
		{p.Label + "A", "REFUSED", ""},
		{string(p.Signed[:900]), "REFUSED", ""},
	} {
		cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"),
			"--virtual-time-budget=60000", "--dump-dom", "file://"+file+"#"+strings.ReplaceAll(url.QueryEscape(c.Text), "+", "%20"))
		out, err := cmd.Output()
		_, shown, _ := strings.Cut(string(out), `id="result"`)
		if err != nil || !strings.Contains(shown, c.Want) || !strings.Contains(shown, c.Digest) || strings.Contains(shown, "<img") {
			t.Errorf("%.40q: %v\n%s", c.Text, err, shown)
		}
	}
}
