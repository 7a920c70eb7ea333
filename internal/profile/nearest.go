package profile

import (
	"slices"

	"shardboard/internal/topology"
)

// Points of a layout for one collection. An agreeing shard key says most;
// which collections exist tells neighbouring versions apart. A collection that
// should be sharded and is not says nothing: set-up jobs lag and fail silently.
const (
	pointsKey     = 4
	pointsVariant = 2
	pointsThere   = 1
	pointsOther   = -2 // sharded by another key, or sharded and unheard of
	pointsMissing = -1
	pointsExtra   = -1
)

// Score is how well a layout fits a database.
type Score struct {
	Layout string
	Points int
	Agree  int // collections sharded as the layout says
	Differ int // of its collections: sharded otherwise, or not sharded, or missing
	Extra  int // collections that it does not have
}

// score compares a layout with what a database has.
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

// variant is the code of the known variant that has the key; "" if none has.
func (c Collection) variant(key string) string {
	for _, v := range c.Variants {
		if v.Key == key {
			return v.Code
		}
	}
	return ""
}

// nearest is the layout that fits best. Among equals the one that has fewer
// collections in vain, if anything agrees at all, then the newest.
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

// Nearest is the layout whose expected shard keys and collections differ least
// from what the database has, and beside its own every collection of the other
// layouts that is there too: what exists is placed, whatever the version. Where
// collections cannot be listed, those of the newest layout may exist.
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
