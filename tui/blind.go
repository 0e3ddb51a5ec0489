package tui

// typed is how an editor is drawn. What is typed there is not drawn for the record: it may be a secret in the wrong place.
func (d *desk) typed(ed *editor, w int, mask bool) (string, int) {
	text, x := ed.view(w, mask)
	if d.blind && text != "" {
		return untold, 0
	}
	return text, x
}

// untold stands in the record for what a person types.
const untold = "..."
