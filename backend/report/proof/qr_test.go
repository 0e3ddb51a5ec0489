package proof_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"touchdown/backend/report/proof"
	"touchdown/test/wait"
)

// modules are the dark rows of the printed code: where each begins, and how long it is.
var modules = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-\d+z`)

// picture draws the code of a printed report, four points a module.
func picture(t *testing.T, page []byte, file string) {
	t.Helper()
	const scale = 4
	side := 0
	if m := regexp.MustCompile(`viewBox="0 0 (\d+) `).FindSubmatch(page); m != nil {
		side, _ = strconv.Atoi(string(m[1]))
	}
	rows := modules.FindAllStringSubmatch(string(page), -1)
	if side == 0 || len(rows) < 100 {
		t.Fatalf("there is no code in the page: %d, %d rows", side, len(rows))
	}
	img := image.NewGray(image.Rect(0, 0, side*scale, side*scale))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	for _, row := range rows {
		x, _ := strconv.Atoi(row[1])
		y, _ := strconv.Atoi(row[2])
		n, _ := strconv.Atoi(row[3])
		for dx := range n * scale {
			for dy := range scale {
				img.SetGray(x*scale+dx, y*scale+dy, color.Gray{})
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCodeIsReadByOthers decodes printed codes with zbar, which has no line of the program that draws them. What it reads is the
// label, and the label is good.
func TestCodeIsReadByOthers(t *testing.T) {
	program := wait.Program(t, "zbarimg")
	count := 1000
	if testing.Short() {
		count = 20
	}
	dir, k := t.TempDir(), key(t)
	args := []string{"-q", "--raw", "-Sdisable", "-Sqrcode.enable"} // among a thousand codes it finds the bars of another kind, too
	var want []string
	for n := range count {
		d := document()
		d.Node.Serial = fmt.Sprintf("SN-%d%s", n*7919, strings.Repeat("-\u00fcx", n%24))
		p := signed(t, d, k)
		page, err := d.HTML(p.Digest, p.Label)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.png", n))
		picture(t, page, file)
		args, want = append(args, file), append(want, p.Label)
	}
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Errorf("zbarimg: %v", err)
	}
	read := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(read) != count {
		t.Fatalf("%d of %d codes were read", len(read), count)
	}
	for n, text := range read {
		if _, err := proof.ReadLabel(text); err != nil || text != want[n] {
			t.Errorf("code %d: %v\n%s\n%s", n, err, text, want[n])
		}
	}
	t.Logf("%d codes, labels of up to %d bytes", count, len(want[23%count]))
}

// TestLabelThatIsTooLong: a serial number that fills no code leaves the code out, and nothing else.
func TestLabelThatIsTooLong(t *testing.T) {
	d := document()
	d.Node.Serial = strings.Repeat("9", 4<<10)
	p := signed(t, d, key(t))
	page, err := d.HTML(p.Digest, p.Label)
	if err != nil || p.Label != "" || bytes.Contains(page, []byte("<svg")) || !bytes.Contains(page, []byte(p.Digest)) {
		t.Errorf("%q, %v", p.Label, err)
	}
}
