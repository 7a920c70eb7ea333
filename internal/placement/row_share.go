package placement

import (
	"math"
	"time"

	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// RowShare is which part of a project's own rows is on a shard: of all rows in
// the collections whose key begins with the project. No index counts them, so it
// follows from where the chunks are, the counts that the application stores with
// the project, and as a bound from the rows that the collections have at all.
type RowShare struct {
	Known     bool
	Low, High float64 // 0..1; the truth is between them
	Exact     bool    // all or nothing of each collection is here: no count is needed
	Method    string  // catalogue code, as of a figure; "" when !Known
	At        time.Time
	Reason    string // catalogue code when !Known
}

// Middle is the share to sort by.
func (s RowShare) Middle() float64 { return (s.Low + s.High) / 2 }

// rowsOf bounds the rows of a project in one collection.
type rowsOf struct {
	low, high float64
	counted   bool // by the application
	at        time.Time
}

// ownRows is what is known of a project's rows in a collection that has them in
// the chunks [from, to) only.
func ownRows(t *topology.Table, pr Project, pc profile.Collection, keys string, c *topology.Collection, from, to int) rowsOf {
	stored := topology.Figure{}
	switch {
	case pc.Name == keys:
		stored = pr.Documents
	case pc.Kind == "client":
		stored = pr.Clients
	}
	if stored.Known {
		return rowsOf{low: float64(stored.Value), high: float64(stored.Value), counted: true, at: stored.At}
	}
	out := rowsOf{}
	seen := map[string]bool{}
	for i := from; i < to; i++ {
		shard := c.Chunks.Owner(i)
		if seen[shard] {
			continue
		}
		seen[shard] = true
		all := t.SizeOn(c.NS, shard).Documents
		if !all.Known {
			return rowsOf{high: math.Inf(1)}
		}
		out.high += float64(all.Value)
		out.at = older(out.at, all.At)
	}
	return out
}

// older is the earlier of two times, of which the first may be zero.
func older(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// tally adds up what of a project is here and what is elsewhere.
type tally struct {
	hereLow, hereHigh, elseLow, elseHigh float64
	counted, bounded                     bool
	at                                   time.Time
}

func (s *tally) add(part ProjectPart, rows rowsOf) {
	switch {
	case part.Chunks == part.Of:
		s.hereLow, s.hereHigh = s.hereLow+rows.low, s.hereHigh+rows.high
	case part.Chunks == 0:
		s.elseLow, s.elseHigh = s.elseLow+rows.low, s.elseHigh+rows.high
	default:
		s.hereHigh, s.elseHigh = s.hereHigh+rows.high, s.elseHigh+rows.high
	}
	s.counted = s.counted || rows.counted
	s.bounded = s.bounded || !rows.counted && rows.high > 0
	s.at = older(s.at, rows.at)
}

// share is what the sums say; whole tells that nothing is elsewhere.
func (s *tally) share(whole bool) RowShare {
	if whole {
		return RowShare{Known: true, Low: 1, High: 1, Exact: true, Method: "routing", At: s.at}
	}
	if s.hereHigh == 0 && s.elseHigh == 0 {
		return RowShare{Reason: "noRows"}
	}
	out := RowShare{Known: true, Low: part(s.hereLow, s.elseHigh), High: part(s.hereHigh, s.elseLow), Method: "projectStats", At: s.at}
	if s.bounded {
		out.Method = "rowBounds"
	}
	if out.Low == 0 && out.High == 1 {
		return RowShare{Reason: "notSurveyed"}
	}
	return out
}

// part is a of a and b together; with nothing in both, none.
func part(a, b float64) float64 {
	switch {
	case a == 0:
		return 0
	case math.IsInf(b, 1):
		return 0
	case math.IsInf(a, 1):
		return 1
	}
	return a / (a + b)
}
