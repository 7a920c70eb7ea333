package heat

import (
	"cmp"
	"slices"

	"shardboard/internal/natural"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Method is how the writes of a collection are counted.
type Method int

const (
	// NewRows: every write is a new row, and all rows are counted by the time in their ids.
	NewRows Method = iota
	// ChangedRows: rows are updated in place. They are counted by the date of their last change,
	// once a minute and only for the hottest projects, because no index finds rows by that date
	// alone. A row changed twice counts once, so counts are lower bounds.
	ChangedRows
)

// String is the name in the API.
func (m Method) String() string {
	if m == ChangedRows {
		return "changedRows"
	}
	return "newRows"
}

// Uncounted is why the writes of a collection are not counted. Codes:
//
//	unsharded   the collection is on one shard, so there is nothing to compare
//	inPlace     rows are updated in place and have no date of the change
//	scattered   rows have a date, but the shard key does not begin with the
//	            project, so each query would go to every shard
//	unprofiled  the profile does not say how the collection is written
type Uncounted string

const (
	Unsharded  Uncounted = "unsharded"
	Unprofiled Uncounted = "unprofiled"
)

// Text is the reason as a sentence.
func (u Uncounted) Text() string {
	switch u {
	case Unsharded:
		return "It is not sharded: all of it is on one shard."
	case "inPlace":
		return "Its rows are changed in place and have no date of the change."
	case "scattered":
		return "Its rows have the date of their last change, but its shard key does not begin with the project: " +
			"each count would go through the rows of every shard."
	case Unprofiled:
		return "The profile does not say how it is written to."
	}
	return "The reason is not known (" + string(u) + ")."
}

// Coverage is how a collection's writes are counted, or why they are not.
type Coverage struct {
	NS     topology.Namespace
	Method Method    // if Not is empty
	Not    Uncounted // "": they are counted
}

// Cover lists all sharded user collections and all collections that a profile keeps by project or
// document: counted ones first, then by name. A collection that is not known to exist is left out.
func Cover(t *topology.Table, p *profile.Profile) []Coverage {
	known := map[topology.Namespace]Coverage{}
	for _, db := range p.Match(t) {
		for _, col := range p.Nearest(t, db).Collections {
			ns := topology.Namespace(db + "." + col.Name)
			if c := t.Collection(ns); c != nil {
				known[ns] = coverage(c, col)
			} else if col.Scope != profile.ScopeCluster && slices.Contains(t.Unsharded, ns) {
				known[ns] = Coverage{NS: ns, Not: Unsharded}
			}
		}
	}
	for _, c := range t.Collections {
		if _, ok := known[c.NS]; !ok && !topology.IsInternal(c.NS) && !c.Temporary && !c.Unsplittable {
			known[c.NS] = Coverage{NS: c.NS, Not: Unprofiled}
		}
	}
	out := make([]Coverage, 0, len(known))
	for _, c := range known {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Coverage) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), natural.Compare(a.NS, b.NS))
	})
	return out
}

func (c Coverage) rank() int {
	if c.Not != "" {
		return 2
	}
	return int(c.Method)
}

func coverage(c *topology.Collection, of profile.Collection) Coverage {
	switch out := (Coverage{NS: c.NS}); {
	case c.Unsplittable:
		out.Not = Unsharded
		return out
	case of.Appended:
		return out
	case of.WrittenAt == "" && of.ProjectField == "" && of.DocumentField == "":
		out.Not = Unprofiled
		return out
	case of.WrittenAt == "":
		out.Not = "inPlace"
		return out
	case of.ProjectField == "" || !c.Key.LeadsWith(of.ProjectField):
		out.Not = "scattered"
		return out
	default:
		out.Method = ChangedRows
		return out
	}
}

// Counted returns the collections whose new rows are all counted, by name.
func Counted(t *topology.Table, p *profile.Profile) []topology.Namespace {
	var out []topology.Namespace
	for _, c := range Cover(t, p) {
		if c.Not == "" && c.Method == NewRows {
			out = append(out, c.NS)
		}
	}
	return out
}

// CoverageOf returns how one collection is counted; false when it is unknown.
func CoverageOf(t *topology.Table, p *profile.Profile, ns topology.Namespace) (Coverage, bool) {
	for _, c := range Cover(t, p) {
		if c.NS == ns {
			return c, true
		}
	}
	return Coverage{NS: ns}, false
}
