package heat

import (
	"cmp"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Sum is the writes of one project, Yorkie document or shard in several collections together.
type Sum struct {
	// Line has the total rate; its share is of everything counted.
	Line  Line
	DB    string // set for projects and Yorkie documents: another database may have the same id
	Parts []Part // hottest first
}

// Part is the sum's part in one collection with writes.
type Part struct {
	NS   topology.Namespace
	Rate Rate // share of the collection's writes
}

// Sums adds up the lines of windows, hottest first. Several windows must be of new rows, because
// those of changed rows omit most projects. A window in which nothing was counted makes every sum a
// lower bound.
func Sums(windows []Window, lines func(Window) []Line) []Sum {
	type id struct {
		db, shard         string
		project, document bson.ObjectID
	}
	sums := map[id]*Sum{}
	in := map[id]map[topology.Namespace]bool{}
	var all float64
	for _, w := range windows {
		all += w.Total.PerSecond
		for _, l := range lines(w) {
			k := id{w.NS.Database(), l.Shard, l.Project, l.Document}
			if l.Shard != "" && l.Project.IsZero() { // a project with the same id in another database is another one
				k.db = ""
			}
			s := sums[k]
			if s == nil {
				s = &Sum{DB: k.db, Line: Line{Project: l.Project, Document: l.Document, Shard: l.Shard, Chunk: -1, Rate: Rate{Exact: true}}}
				sums[k], in[k] = s, map[topology.Namespace]bool{}
			}
			s.Line.Rate = s.Line.Rate.plus(l.Rate)
			in[k][w.NS] = true
			if l.Rate.Rows > 0 {
				s.Parts = append(s.Parts, Part{NS: w.NS, Rate: l.Rate})
			}
		}
	}
	out := make([]Sum, 0, len(sums))
	for k, s := range sums {
		for _, w := range windows {
			if !in[k][w.NS] && (k.db == "" || k.db == w.NS.Database()) {
				s.Line.Rate = s.Line.Rate.plus(w.None())
			}
		}
		if all > 0 {
			s.Line.Rate.Share = s.Line.Rate.PerSecond / all
		}
		slices.SortFunc(s.Parts, func(a, b Part) int {
			return cmp.Or(cmp.Compare(b.Rate.PerSecond, a.Rate.PerSecond), natural.Compare(a.NS, b.NS))
		})
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Sum) int { return cmp.Or(compareHotness(a.Line, b.Line), natural.Compare(a.DB, b.DB)) })
	return out
}

// None is the rate of something that a window did not see.
func (w Window) None() Rate {
	if w.Seconds == 0 {
		return Rate{AtLeast: true}
	}
	t := tally{sampled: !w.Total.Exact && w.Total.PlusMinus > 0, capped: w.Total.AtLeast}
	return t.rate(w.Seconds, 0)
}

// plus adds the rates of two things that were counted independently.
func (r Rate) plus(o Rate) Rate {
	return Rate{PerSecond: r.PerSecond + o.PerSecond, PlusMinus: math.Hypot(r.PlusMinus, o.PlusMinus),
		Exact: r.Exact && o.Exact, AtLeast: r.AtLeast || o.AtLeast, Rows: r.Rows + o.Rows}
}
