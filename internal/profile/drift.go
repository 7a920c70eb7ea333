package profile

import (
	"slices"

	"shardboard/internal/topology"
)

// Kinds of findings (catalogue codes).
const (
	FindMissing    = "missing"    // in the layout, but does not exist
	FindUnsharded  = "unsharded"  // exists unsharded, although the layout shards it
	FindUnlisted   = "unlisted"   // not sharded; it is not known whether it exists
	FindDifferent  = "different"  // sharded by another key
	FindSharded    = "sharded"    // sharded, although the layout does not shard it
	FindDocumented = "documented" // as every release leaves it, but documented otherwise
	FindOlder      = "older"      // only in an older layout
	FindNewer      = "newer"      // only in a newer layout
	FindForeign    = "foreign"    // in no layout
)

// Finding is one collection that differs from the layout.
type Finding struct {
	Code    string
	NS      topology.Namespace
	Want    string // expected shard key; "" = unsharded, or not in the layout
	Have    string // "" = unsharded or absent
	Look    bool   // needs attention: it changes where data is
	Variant string // catalogue code of a release known to leave it so; "" if none
	Layout  string // for FindOlder and FindNewer: the nearest layout with it
	Fix     Fix
}

// Drift is a database compared with a layout.
type Drift struct {
	DB       string
	Layout   Layout // the compared layout
	Nearest  string // the best fitting layout
	Older    bool   // Layout is older than Nearest, so nothing needs repair
	Scores   []Score
	Actual   Actual
	Findings []Finding // the layout's collections in its order, then extra ones
}

// Looks counts the findings that need attention.
func (d Drift) Looks() int {
	n := 0
	for _, f := range d.Findings {
		if f.Look {
			n++
		}
	}
	return n
}

// DriftOf compares a database with the layout of that name, or with the nearest one if the name is
// empty or unknown. It reads nothing.
func (p *Profile) DriftOf(t *topology.Table, db, layout string) Drift {
	a := ActualOf(t, db)
	l, scores := p.nearest(a)
	d := Drift{DB: db, Layout: l, Nearest: l.Name, Scores: scores, Actual: a}
	if other, ok := p.Layout(layout); ok {
		d.Layout = other
	}
	d.Older = p.older(d.Layout.Name, d.Nearest)
	commands := commandsFor(t, db, a)
	finish := func(f Finding) {
		if f.Fix = commands.fix(f); d.Older {
			f.Fix, f.Look = Fix{Code: FixBack}, false
		}
		d.Findings = append(d.Findings, f)
	}
	for _, want := range d.Layout.Collections {
		f, ok := judge(want, a)
		if !ok {
			continue
		}
		f.NS = topology.Namespace(db + "." + want.Name)
		finish(f)
	}
	for _, name := range a.Names {
		if _, ok := d.Layout.Collection(name); ok {
			continue
		}
		f, ok := p.extra(d.Layout, name)
		if !ok {
			continue
		}
		f.NS, f.Have = topology.Namespace(db+"."+name), a.Keys[name]
		finish(f)
	}
	return d
}

// older reports whether a layout is older than another: layouts are listed newest first.
func (p *Profile) older(name, than string) bool {
	at := func(name string) int {
		return slices.IndexFunc(p.Layouts, func(l Layout) bool { return l.Name == name })
	}
	return at(name) > at(than)
}

// judge compares one collection of a layout with the database. Missing cluster-wide collections are
// not reported: they come and go with releases and are not distributed.
func judge(want Collection, a Actual) (f Finding, ok bool) {
	state, have := a.Of(want.Name)
	f = Finding{Want: want.Expected, Have: have}
	switch {
	case want.Unjudged:
		return f, false
	case state == Sharded && have == want.Expected, state == Sharded && have == want.Documented:
		return f, false
	case state == Sharded && want.Expected == "":
		f.Code, f.Look = FindSharded, true
	case state == Sharded:
		f.Code, f.Look, f.Variant = FindDifferent, true, want.variant(have)
	case want.Scope == ScopeCluster && want.Expected == "":
		return f, false
	case state == Absent:
		f.Code = FindMissing
	case want.Expected == "" && want.Documented != "" && state == Unsharded:
		f.Code, f.Want = FindDocumented, want.Documented
	case want.Expected == "":
		return f, false
	case state == Unlisted:
		f.Code = FindUnlisted
	default:
		f.Code, f.Look, f.Variant = FindUnsharded, true, want.variant("")
	}
	return f, true
}

// extra examines a collection that the layout lacks.
func (p *Profile) extra(l Layout, name string) (f Finding, ok bool) {
	newer := true // layouts are listed newest first
	nearestNewer, nearestOlder := "", ""
	for _, other := range p.Layouts {
		if other.Name == l.Name {
			newer = false
			continue
		}
		c, has := other.Collection(name)
		switch {
		case !has:
		case c.Scope == ScopeCluster && c.Expected == "":
			return f, false // cluster-wide in some release: nothing to place
		case newer:
			nearestNewer = other.Name
		case nearestOlder == "":
			nearestOlder = other.Name
		}
	}
	switch {
	case nearestNewer != "":
		return Finding{Code: FindNewer, Layout: nearestNewer, Look: true}, true
	case nearestOlder != "":
		return Finding{Code: FindOlder, Layout: nearestOlder}, true
	}
	return Finding{Code: FindForeign}, true
}
