package survey

import (
	"cmp"
	"math"
	"slices"

	"shardboard/internal/natural"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxDocumentsListed is how many Yorkie documents of a collection a result lists.
const maxDocumentsListed = 50

// scale converts sums of rows into estimates of all rows.
type scale struct {
	counted bool               // every row was read: sums are exact
	partial bool               // reading ended before the last row
	weight  map[string]float64 // weight of a row sampled from a shard
	other   float64            // weight on other shards
	top     float64            // the largest weight
	total   int64              // rows of the collection; 0 = not known
	largest float64            // bytes of the largest row
	loose   float64            // factor by which the total may be larger
}

func (s scale) of(shard string) float64 {
	if w, ok := s.weight[shard]; ok {
		return w
	}
	return s.other
}

// sum is the weighted sums of cells: rows and bytes, also of dead rows.
type sum struct {
	rows, bytes, deadRows, deadBytes WeightedSum
}

func (s *sum) add(c cell, w float64) {
	n := float64(c.Rows)
	s.rows.Add(c.Rows, w*n, w*w*n)
	s.bytes.Add(c.Rows, w*c.Bytes, w*w*c.Squares)
	d := float64(c.DeadRows)
	s.deadRows.Add(c.DeadRows, w*d, w*w*d)
	if c.DeadRows > 0 {
		// The squares of the dead rows alone are not stored; they are at most those of all rows.
		s.deadBytes.Add(c.DeadRows, w*c.DeadBytes, w*w*min(c.Squares, c.DeadBytes*c.DeadBytes))
	}
}

// weigh returns a sum's figures; all is the sum of the whole collection.
func (s scale) weigh(rows, bytes, all WeightedSum, total int64) Weight {
	if s.counted {
		return Weight{Rows: s.exactly(rows.sum), Bytes: s.exactly(bytes.sum)}
	}
	return Weight{Rows: s.loosen(rows.Estimate(s.top, all, total)), Bytes: s.loosen(bytes.Estimate(s.top*s.largest, WeightedSum{}, 0))}
}

// loosen widens an interval because the total itself is an estimate.
func (s scale) loosen(e Estimate) Estimate {
	e.High = int64(math.Ceil(float64(e.High) * s.loose))
	return e
}

func (s scale) exactly(v float64) Estimate {
	n := int64(v)
	return Estimate{Value: n, Low: n, High: n, Exact: !s.partial, AtLeast: s.partial}
}

// lines groups cells by a key, largest first. dead means that dead rows were looked for.
func (s scale) lines(all []cell, key func(cell) cellKey, dead bool) []Line {
	type group struct {
		whole  sum
		shards map[string]*sum
	}
	groups := map[cellKey]*group{}
	var every WeightedSum
	for _, c := range all {
		k := key(c)
		k.shard = ""
		g := groups[k]
		if g == nil {
			g = &group{shards: map[string]*sum{}}
			groups[k] = g
		}
		part := g.shards[c.Shard]
		if part == nil {
			part = &sum{}
			g.shards[c.Shard] = part
		}
		w := s.of(c.Shard)
		g.whole.add(c, w)
		part.add(c, w)
		every.Add(c.Rows, w*float64(c.Rows), w*w*float64(c.Rows))
	}
	out := make([]Line, 0, len(groups))
	for k, g := range groups {
		line := Line{Project: k.project, Document: k.document, Weight: s.weigh(g.whole.rows, g.whole.bytes, every, s.total)}
		if dead {
			w := s.weigh(g.whole.deadRows, g.whole.deadBytes, WeightedSum{}, 0)
			line.Dead = &w
		}
		for shard, part := range g.shards {
			line.Shards = append(line.Shards, Part{Shard: shard, Weight: s.weigh(part.rows, part.bytes, WeightedSum{}, 0)})
		}
		slices.SortFunc(line.Shards, func(a, b Part) int { return natural.Compare(a.Shard, b.Shard) })
		out = append(out, line)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(
			cmp.Compare(b.Bytes.Value, a.Bytes.Value),
			slices.Compare(a.Project[:], b.Project[:]),
			slices.Compare(a.Document[:], b.Document[:]),
		)
	})
	return out
}

func byProject(c cell) cellKey  { return cellKey{project: c.Project} }
func byDocument(c cell) cellKey { return cellKey{project: c.Project, document: c.Document} }

// largestDocuments returns the lines of Yorkie documents that a result lists.
func (s scale) largestDocuments(all []cell) []Line {
	lines := s.lines(slices.DeleteFunc(slices.Clone(all), func(c cell) bool { return c.Document == bson.ObjectID{} }), byDocument, false)
	return lines[:min(len(lines), maxDocumentsListed)]
}
