package tui

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/boombuler/barcode/qr"
)

// webConsole is the address of the cluster's web console, before its domain.
const webConsole = "https://console-openshift-console.apps."

// quietZone is how many white modules surround a code. Cameras find it with two; the four of ISO/IEC 18004 cost a quarter of the page.
const quietZone = 2

// qrLines is an address on the web as a QR code for the camera of a telephone, two modules above each other in a character; nil where
// the theme cannot draw one. Names of hosts are the same in capitals, and a code of capitals is smaller. Level M survives 15 % of glare.
func (t theme) qrLines(address string) []string {
	if t.code == nil {
		return nil
	}
	drawn, err := qr.Encode(strings.ToUpper(address), qr.M, qr.AlphaNumeric)
	if err != nil { // too long, or no address: it stands there as text anyway
		return nil
	}
	size := drawn.Bounds().Dx()
	dark := func(x, y int) int {
		x, y = x-quietZone, y-quietZone
		if x < 0 || y < 0 || x >= size || y >= size {
			return 0
		}
		if r, _, _, _ := drawn.At(x, y).RGBA(); r != 0 {
			return 0
		}
		return 1
	}
	var lines []string
	for y := 0; y < size+2*quietZone; y += 2 {
		var line strings.Builder
		for x := range size + 2*quietZone {
			line.WriteRune(t.halves[dark(x, y)+2*dark(x, y+1)])
		}
		lines = append(lines, t.code.Render(line.String()))
	}
	return lines
}

// corner puts a picture at the right edge of w columns, as high as no line is in its way. Without room for it the lines stay as they are.
func corner(lines, picture []string, w int) []string {
	if len(picture) == 0 {
		return lines
	}
	left := w - lipgloss.Width(picture[0])
	for top := 0; top+len(picture) <= len(lines); top++ {
		beside := lines[top : top+len(picture)]
		if slices.ContainsFunc(beside, func(line string) bool { return lipgloss.Width(strings.TrimRight(line, " ")) > left-2 }) {
			continue
		}
		out := slices.Clone(lines)
		for i, line := range picture {
			out[top+i] = pad(strings.TrimRight(beside[i], " "), left) + line
		}
		return out
	}
	return lines
}
