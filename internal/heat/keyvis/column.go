package keyvis

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// By is what the rows of a picture are.
type By string

// A picture's rows are ranges of the shard key, or projects.
const (
	ByKey     By = "key"
	ByProject By = "project"
)

// Column is a span of time and how it was counted.
type Column struct {
	From    time.Time
	Step    time.Duration
	Covered time.Duration // of Step; the rest was not counted
	Sampled bool          // some of it from one second in ten: rows are estimates
	Capped  bool          // more was written than could be counted: rows are at least
	Hottest bool          // rows changed in place, of the hottest projects only: where none were counted, nothing is known
	Shared  bool          // was counted in wider rows: their writes are divided evenly
	Astray  int64         // rows that are in no row of the picture, or in none by name
}

// End is when the column ends.
func (c Column) End() time.Time { return c.From.Add(c.Step) }

// column is one as it is kept: its cells packed. Immutable.
type column struct {
	Column
	axis  *axis // key columns
	cells []byte
}

// dense adds a key column's cells to rows of an axis; what was counted in wider
// rows is divided evenly, the remainder to the first ones. It tells whether
// anything was.
func (c *column) dense(on *axis, add func(row int, rows int64)) (shared bool) {
	eachCell(c.cells, func(i int, rows int64) {
		if c.axis == on {
			add(i, rows)
			return
		}
		from, to := on.span(c.axis, i)
		if to-from == 1 {
			add(from, rows)
			return
		}
		shared = true
		n := int64(to - from)
		for r := from; r < to; r++ {
			part := rows / n
			if int64(r-from) < rows%n {
				part++
			}
			if part > 0 {
				add(r, part)
			}
		}
	})
	return shared
}

// merged makes one column of several that follow each other.
func merged(cols []*column, by By, from time.Time, step time.Duration) *column {
	out := &column{Column: Column{From: from, Step: step}}
	for _, c := range cols {
		out.Covered += c.Covered
		out.Sampled, out.Capped = out.Sampled || c.Sampled, out.Capped || c.Capped
		out.Hottest, out.Shared = out.Hottest || c.Hottest, out.Shared || c.Shared
		out.Astray += c.Astray
	}
	if by == ByProject {
		sums := map[bson.ObjectID]int64{}
		for _, c := range cols {
			eachProject(c.cells, func(id bson.ObjectID, rows int64) { sums[id] += rows })
		}
		rest := int64(0)
		out.cells, rest = packedProjects(sums)
		out.Astray += rest
		return out
	}
	out.axis = cols[len(cols)-1].axis
	sums := map[int]int64{}
	for _, c := range cols {
		if c.dense(out.axis, func(row int, rows int64) { sums[row] += rows }) {
			out.Shared = true
		}
	}
	out.cells = packedCells(sums)
	return out
}

// packedProjects keeps the busiest by name and tells how many rows the others
// have.
func packedProjects(sums map[bson.ObjectID]int64) (body []byte, rest int64) {
	ids := slices.SortedFunc(maps.Keys(sums), func(a, b bson.ObjectID) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), slices.Compare(a[:], b[:]))
	})
	if len(ids) > named {
		for _, id := range ids[named:] {
			rest += sums[id]
		}
		ids = ids[:named]
	}
	slices.SortFunc(ids, func(a, b bson.ObjectID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range ids {
		body = appendProject(body, id, sums[id])
	}
	return body, rest
}
