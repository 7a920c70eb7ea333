package actions

import (
	"shardboard/internal/actions/operation"
	"slices"
)

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
	case slices.ContainsFunc(d.steps, operation.Step.MovesWhole): // also to undo one: clients have to be stopped
		return High, d.confirm()
	case d.description.LeastRisk == High && !d.isUndo, d.leastRisk == High, !undo.Possible && !d.isUndo && d.sends(), wide,
		d.resharded != nil, OutsideMaintenance(d.checks):
		return High, d.confirm()
	case len(d.moves) > 0, d.description.LeastRisk == Medium, d.leastRisk == Medium:
		return Medium, ""
	}
	return Low, ""
}

// sends reports whether the plan has a command. A plan that only waits changes nothing.
func (d *plannedSteps) sends() bool {
	return slices.ContainsFunc(d.steps, operation.Step.Sends) || len(d.steps) == 0
}

// movedChunks returns how many chunks move.
func (d *plannedCluster) movedChunks() (n int) {
	for _, m := range d.moves {
		n += m.chunks
	}
	return n
}

// confirm returns the text to type: the project's name, else the database or the
// namespace. A name that cannot be typed on every keyboard is replaced by the project's id or the kind.
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
	if canBeTyped(d.a.DB) {
		return d.a.DB
	}
	if d.description.TypesShard && canBeTyped(d.a.Shard) {
		return d.a.Shard
	}
	if ns := string(d.a.NS); canBeTyped(ns) {
		return ns
	}
	return string(d.description.Kind)
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
