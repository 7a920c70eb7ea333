package profile

import (
	"slices"

	"shardboard/internal/topology"
)

// Points of a layout for one collection. An equal shard key is the strongest sign; which
// collections exist distinguishes neighbouring versions. An unsharded collection that should be
// sharded gives no points: set-up jobs run late or fail silently.
const (
	pointsKey     = 4
	pointsVariant = 2
	pointsThere   = 1
	pointsOther   = -2 // sharded by another key, or sharded and unknown
	pointsMissing = -1
	pointsExtra   = -1
)

// Score is how well a layout fits a database.
type Score struct {
	Layout string
	Points int
	Agree  int // collections sharded as the layout says
	Differ int // its collections that are sharded otherwise, unsharded or missing
	Extra  int // collections of the database that it lacks
}

// score compares a layout with a database.
func (l Layout) score(a Actual) Score {
	s := Score{Layout: l.Name}
	for _, want := range l.Collections {
		state, key := a.Of(want.Name)
		switch {
		case want.Unjudged, state == Unlisted && want.Expected == "":
		case want.Scope == ScopeCluster && want.Expected == "":
			if state == Unsharded {
				s.Points += pointsThere
			}
		case state == Sharded && key == want.Expected:
			s.Points += pointsKey
			s.Agree++
		case state == Unsharded && want.Expected == "":
			s.Points += pointsThere
			s.Agree++
		case state == Sharded && key == want.Documented:
			s.Points += pointsVariant
			s.Agree++
		case state == Sharded && want.variant(key) != "":
			s.Points += pointsVariant
			s.Differ++
		case state == Sharded:
			s.Points += pointsOther
			s.Differ++
		case state == Absent:
			s.Points += pointsMissing
			s.Differ++
		default:
			s.Differ++
		}
	}
	for _, name := range a.Names {
		if _, ok := l.Collection(name); ok {
			continue
		}
		s.Extra++
		s.Points += pointsExtra
		if _, sharded := a.Keys[name]; sharded {
			s.Points += pointsOther - pointsExtra
		}
	}
	return s
}

// variant is the code of the known variant with this key; "" if there is none.
func (c Collection) variant(key string) string {
	for _, v := range c.Variants {
		if v.Key == key {
			return v.Code
		}
	}
	return ""
}

// nearest is the best fitting layout. Among equals it is the one with fewer differences, if
// anything agrees at all, then the newest.
func (p *Profile) nearest(a Actual) (best Layout, scores []Score) {
	var top Score
	for i, l := range p.Layouts {
		s := l.score(a)
		scores = append(scores, s)
		if i == 0 || s.Points > top.Points || s.Points == top.Points && s.Agree > 0 && s.Differ < top.Differ {
			best, top = l, s
		}
	}
	return best, scores
}

// Nearest is the layout whose shard keys and collections differ least from the database, extended
// by existing collections of other layouts: whatever exists must be placed, whatever the version.
// If collections cannot be listed, those of the newest layout are included too.
func (p *Profile) Nearest(t *topology.Table, db string) Layout {
	a := ActualOf(t, db)
	l, _ := p.nearest(a)
	out := Layout{Name: l.Name, Since: l.Since, Collections: l.Collections[:len(l.Collections):len(l.Collections)]}
	names := a.Names
	if !a.Listed {
		names = slices.Clone(names)
		for _, c := range p.Layouts[0].Collections {
			names = append(names, c.Name)
		}
	}
	for _, name := range names {
		if _, ok := out.Collection(name); ok {
			continue
		}
		if c, ok := p.Collection(name); ok {
			out.Collections = append(out.Collections, c)
		}
	}
	return out
}
