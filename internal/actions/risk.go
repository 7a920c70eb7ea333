package actions

// A plan that moves more than this is of high risk and has to be confirmed by typing.
const (
	wideBytes  = 10 << 30
	wideChunks = 20
)

// risk returns the class, and the text to type. That an undo cannot be undone does not
// make it risky, because it restores an earlier state. An unknown number of bytes
// counts as many.
func (d *draftBuilder) risk(e Effect, undo Undo) (Risk, string) {
	wide := d.movedChunks() > wideChunks || e.Bytes.Known && e.Bytes.Value > wideBytes || len(d.moves) > 0 && !e.Bytes.Known
	switch {
	case d.description.LeastRisk == High && !d.isUndo, !undo.Possible && !d.isUndo, wide, d.resharded != nil, OutsideMaintenance(d.checks):
		return High, d.confirm()
	case len(d.moves) > 0, d.description.LeastRisk == Medium:
		return Medium, ""
	}
	return Low, ""
}

// movedChunks returns how many chunks move.
func (d *draftBuilder) movedChunks() (n int) {
	for _, m := range d.moves {
		n += m.chunks
	}
	return n
}

// confirm returns the text to type: the project's name, else the namespace. A name that
// cannot be typed on every keyboard is replaced by the project's id or the kind.
func (d *draftBuilder) confirm() string {
	if d.a.Project != "" && d.s.Directory != nil {
		for _, p := range d.s.Directory.Exactly(d.a.Project) {
			if p.DB == d.a.DB && canBeTyped(p.Name) {
				return p.Name
			}
		}
	}
	if d.a.Project != "" {
		return d.a.Project // resolved to an id
	}
	if ns := string(d.a.NS); canBeTyped(ns) {
		return ns
	}
	return string(d.kind)
}

// canBeTyped reports whether a text is short, has only characters that are on every
// keyboard, and has no spaces at its ends, which a form would trim.
func canBeTyped(s string) bool {
	if s == "" || len(s) > 80 || s[0] == ' ' || s[len(s)-1] == ' ' {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
