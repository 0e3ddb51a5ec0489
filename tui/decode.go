package tui

import (
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// item is a run of printable text, or one key that is not text.
type item struct {
	text string
	key  tea.KeyPressMsg
}

// place is where in an escape sequence a decoder is.
type place uint8

const (
	ground    place = iota
	escaped         // behind ESC
	inCSI           // behind ESC [
	inSS3           // behind ESC O
	inLinux         // behind ESC [ [, as the kernel's console begins F1 to F5
	inString        // in a text for a terminal, such as ESC ] ... BEL
	endString       // behind an ESC in one
)

// maxParams is how much of a sequence is looked at. No key has more; the rest is read and dropped.
const maxParams = 8

// decoder turns the bytes of a line into items. It knows the keys that the console uses, drops every other sequence whole,
// however long, and keeps no more than a few bytes of one that has not ended.
type decoder struct {
	at     place
	params []byte
	skip   int    // bytes of a mouse report still to come
	utf    []byte // of a character that has not ended
	paste  bool   // between the marks of a bracketed paste
	known  bool   // the sequence is a key of the console
	text   []byte // of the run at the end of items
	items  []item
}

// feed takes bytes in.
func (d *decoder) feed(data []byte) {
	for _, b := range data {
		switch {
		case d.skip > 0:
			d.skip--
		case d.at == ground:
			d.known = false
			d.plain(b)
		default:
			if d.sequence(b); d.at == ground && !d.known {
				d.drop()
			}
		}
	}
}

// inKey reports whether a key has begun that may go on.
func (d *decoder) inKey() bool { return d.at != ground || d.skip > 0 || len(d.utf) > 0 }

// unfinished reports whether a key or a bracketed paste has begun that may go on.
func (d *decoder) unfinished() bool { return d.inKey() || d.paste }

// drop notes that something came that is not a key: what comes with it was not pressed by a person.
func (d *decoder) drop() {
	d.endText()
	if n := len(d.items); n == 0 || d.items[n-1] != (item{}) {
		d.items = append(d.items, item{})
	}
}

// rest ends what has begun: nothing came for longer than the bytes of one key are apart. An ESC alone is a key.
func (d *decoder) rest() {
	switch d.at {
	case ground:
	case escaped:
		d.press(tea.KeyPressMsg{Code: tea.KeyEscape})
	default:
		d.drop()
	}
	d.cutOff()
	d.at, d.skip, d.params, d.paste = ground, 0, d.params[:0], false
}

// cutOff drops a character that does not go on.
func (d *decoder) cutOff() {
	if len(d.utf) > 0 {
		d.utf = d.utf[:0]
		d.drop()
	}
}

// take returns the items so far and forgets them.
func (d *decoder) take() []item {
	d.endText()
	items := d.items
	d.items = nil
	return items
}

func (d *decoder) endText() {
	if len(d.text) > 0 {
		d.items = append(d.items, item{text: string(d.text)})
		d.text = d.text[:0]
	}
}

// press notes a key. In a paste only those count that a text consists of.
func (d *decoder) press(k tea.KeyPressMsg) {
	d.known = true
	breaks := k.Mod == 0 && (k.Code == tea.KeyEnter || k.Code == tea.KeyTab) || k.Mod == tea.ModCtrl && k.Code == 'j'
	if d.paste && !breaks {
		return
	}
	d.endText()
	d.items = append(d.items, item{key: k})
}

// plain takes a byte outside of sequences.
func (d *decoder) plain(b byte) {
	if b < 0x80 || b >= 0xc0 {
		d.cutOff()
	}
	switch {
	case b >= 0x80:
		d.utf = append(d.utf, b)
		if !utf8.FullRune(d.utf) {
			return
		}
		if r, _ := utf8.DecodeRune(d.utf); r != utf8.RuneError && unicode.IsPrint(r) {
			d.text = utf8.AppendRune(d.text, r)
		}
		d.utf = d.utf[:0]
	case b >= ' ' && b < 0x7f:
		d.text = append(d.text, b)
	case b == 0x1b:
		d.at = escaped
	case b == 0x7f:
		d.press(tea.KeyPressMsg{Code: tea.KeyBackspace})
	case b == '\r':
		d.press(tea.KeyPressMsg{Code: tea.KeyEnter})
	case b == '\t':
		d.press(tea.KeyPressMsg{Code: tea.KeyTab})
	case b > 0 && b <= 26:
		d.press(tea.KeyPressMsg{Code: rune(b) + 'a' - 1, Mod: tea.ModCtrl})
	}
}

// sequence takes a byte inside of one.
func (d *decoder) sequence(b byte) {
	switch d.at {
	case escaped:
		d.escaped(b)
	case inSS3, inLinux:
		at := d.at
		d.at = ground
		switch code, ok := letters[b]; {
		case ok && at == inSS3, b == 'P' && at == inSS3:
			d.press(tea.KeyPressMsg{Code: code})
		case b == 'A' && at == inLinux:
			d.press(tea.KeyPressMsg{Code: tea.KeyF1})
		case b == 0x1b:
			d.begin()
		}
	case inCSI:
		d.csi(b)
	case inString:
		switch b {
		case 0x07, 0x18, 0x1a:
			d.at = ground
		case 0x1b:
			d.at = endString
		}
	case endString:
		if d.at = inString; b == '\\' {
			d.at = ground
		}
	case ground:
	}
}

// begin takes the ESC that begins another sequence before this one has ended.
func (d *decoder) begin() {
	d.drop()
	d.at = escaped
}

// escaped takes the byte behind ESC.
func (d *decoder) escaped(b byte) {
	d.at, d.params = ground, d.params[:0]
	switch {
	case b == '[':
		d.at = inCSI
	case b == 'O':
		d.at = inSS3
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		d.at = inString
	case b == 0x1b: // the first one was a key
		d.press(tea.KeyPressMsg{Code: tea.KeyEscape})
		d.at, d.known = escaped, false
	case b > ' ' && b < 0x7f:
		d.press(tea.KeyPressMsg{Code: rune(b), Mod: tea.ModAlt})
	case b < ' ':
		d.press(tea.KeyPressMsg{Code: tea.KeyEscape})
		d.plain(b)
	}
}

// csi takes a byte behind ESC [.
func (d *decoder) csi(b byte) {
	switch {
	case b == 0x1b:
		d.begin()
	case b < ' ' || b >= 0x7f: // broken off
		d.at = ground
	case b == '[' && len(d.params) == 0:
		d.at = inLinux
	case b < 0x40:
		if len(d.params) <= maxParams {
			d.params = append(d.params, b)
		}
	default:
		d.at = ground
		d.end(b)
	}
}

// end takes the last byte of a sequence that began with ESC [.
func (d *decoder) end(b byte) {
	code, known := letters[b]
	switch params := string(d.params); {
	case b == 'M' && params == "": // X10 mouse: three more bytes
		d.skip = 3
	case b == '~' && params == "200":
		d.drop() // so that it is never taken for one key
		d.paste = true
	case b == '~' && params == "201":
		d.paste = false
	case b == '~':
		if code, ok := numbers[params]; ok {
			d.press(tea.KeyPressMsg{Code: code})
		}
	case known && (params == "" || params == "1"):
		d.press(tea.KeyPressMsg{Code: code})
	case b == 'Z' && params == "":
		d.press(tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift})
	}
}

// letters are the keys whose sequence ends with a letter, behind ESC [ or ESC O.
var letters = map[byte]rune{
	'A': tea.KeyUp, 'B': tea.KeyDown, 'C': tea.KeyRight, 'D': tea.KeyLeft, 'H': tea.KeyHome, 'F': tea.KeyEnd, 'P': tea.KeyF1,
}

// numbers are the keys whose sequence is a number and a tilde.
var numbers = map[string]rune{
	"1": tea.KeyHome, "7": tea.KeyHome, "4": tea.KeyEnd, "8": tea.KeyEnd, "3": tea.KeyDelete,
	"5": tea.KeyPgUp, "6": tea.KeyPgDown, "11": tea.KeyF1,
}
