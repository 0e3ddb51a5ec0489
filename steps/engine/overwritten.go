package engine

import (
	"cmp"
	"strings"

	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
)

// overNotice is the notice that the site config on a medium was overwritten, or why it was not.
const overNotice = "left over"

// usedText is what stays on a medium in place of its site config.
func usedText(e *lander, c *core) volume.File {
	name, _ := c.draft.site.Get("spec.clusterName")
	base, _ := c.draft.site.Get("spec.baseDomain")
	text := "The site config on this medium was used by " + cmp.Or(strings.Trim(name+"."+base, "."), "a node") + " (machine " + c.serial + ") on " +
		e.o.Node.Now().UTC().Format("2006-01-02") + ".\r\nThe node overwrites it then. Flash may keep copies: destroy the medium if it held secrets.\r\n"
	return volume.File{Name: media.UsedFile, Data: []byte(e.mask.Mask(text))}
}

// tellOverwritten tells what became of the site config on a medium. That it stays is a warning, which the landing does not fail with.
func (e *lander) tellOverwritten(known media.Known, l *leaving, left *media.Left) {
	line := message.F("The site config on medium %s was overwritten.", left.Medium)
	whole := message.F("The site config on medium %s was overwritten. Flash may keep copies: destroy the medium if it held secrets.", left.Medium)
	if p := left.Stays; p != nil {
		e.o.Node.Log.Warn("the site config on the medium was not overwritten", "error", e.mask.Mask(p.Error()))
		line = message.F("The site config may still be on the medium (%s). The log says why.", p.Code)
		whole = reason(p).Map(e.mask.Mask)
	} else if !left.Overwritten {
		return
	}
	e.sayOn(overNotice, known, l, line, whole)
}

// tellAway tells that the medium of a node that has landed is not there: its site config stays on it.
func (e *lander) tellAway(known media.Known, l *leaving) {
	if l.used == nil {
		return
	}
	e.sayOn(overNotice, known, l, message.T("The site config is still on its medium (MED-LEFT): put it in again."),
		message.T("The medium that brought the site config was removed, so the site config stays on it (MED-LEFT). Put it in again before the hand-over: the node adds its report, and overwrites the site config unless that says keep."))
}
