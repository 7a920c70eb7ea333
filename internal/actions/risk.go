package actions

// What makes a plan wide: from here on it has to be confirmed by typing.
const (
	wideBytes  = 10 << 30
	wideChunks = 20
)

// risk is the class and the text to type. An undo cannot itself be undone, and
// yet takes back what was there before. Bytes that are not known may be many.
func (d *draftBuilder) risk(e Effect, undo Undo) (Risk, string) {
	wide := d.movedChunks() > wideChunks || e.Bytes.Known && e.Bytes.Value > wideBytes || len(d.moves) > 0 && !e.Bytes.Known
	switch {
	case d.about.LeastRisk == High && !d.undoing, !undo.Possible && !d.undoing, wide, OutsideMaintenance(d.checks):
		return High, d.confirm()
	case len(d.moves) > 0, d.about.LeastRisk == Medium:
		return Medium, ""
	}
	return Low, ""
}

// movedChunks is how many chunks move.
func (d *draftBuilder) movedChunks() (n int) {
	for _, m := range d.moves {
		n += m.chunks
	}
	return n
}

// confirm is what to type: the project's name, else the namespace. A text that
// nobody can type is replaced by one that all can.
func (d *draftBuilder) confirm() string {
	if d.a.Project != "" && d.s.Directory != nil {
		for _, p := range d.s.Directory.Exactly(d.a.Project) {
			if p.DB == d.a.DB && typed(p.Name) {
				return p.Name
			}
		}
	}
	if d.a.Project != "" {
		return d.a.Project // an id by now
	}
	if ns := string(d.a.NS); typed(ns) {
		return ns
	}
	return string(d.kind)
}

// typed tells whether a text is short, and of characters that are on every
// keyboard and are not lost at its ends.
func typed(s string) bool {
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
