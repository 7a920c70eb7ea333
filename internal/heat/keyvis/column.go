package keyvis

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// By is what the rows of a heat map are.
type By string

// Rows are ranges of the shard key, or projects.
const (
	ByKey     By = "key"
	ByProject By = "project"
)

// Column is a time span and how it was counted.
type Column struct {
	From    time.Time
	Step    time.Duration
	Covered time.Duration // counted part of Step
	Sampled bool          // partly counted one second in ten: rows are estimates
	Capped  bool          // not everything could be counted: rows are lower bounds
	Hottest bool          // only changed rows of the hottest projects were counted: other cells are unknown
	Shared  bool          // counted in wider rows, whose writes are divided evenly
	Astray  int64         // writes that belong to no row, or to none by name
}

// End is when the column ends.
func (c Column) End() time.Time { return c.From.Add(c.Step) }

// column is a stored Column with its packed cells. Immutable.
type column struct {
	Column
	axis  *axis // nil for project columns
	cells []byte
}

// dense adds a key column's cells to the rows of an axis. Counts of wider rows are divided evenly,
// the remainder goes to the first rows; shared reports whether that happened.
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

// mergeColumns merges consecutive columns.
func mergeColumns(cols []*column, by By, from time.Time, step time.Duration) *column {
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
		out.cells, rest = packProjects(sums)
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
	out.cells = packCells(sums)
	return out
}

// packProjects keeps the busiest projects by name and returns the writes of the others.
func packProjects(sums map[bson.ObjectID]int64) (body []byte, rest int64) {
	ids := slices.SortedFunc(maps.Keys(sums), func(a, b bson.ObjectID) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), slices.Compare(a[:], b[:]))
	})
	if len(ids) > maxNamed {
		for _, id := range ids[maxNamed:] {
			rest += sums[id]
		}
		ids = ids[:maxNamed]
	}
	slices.SortFunc(ids, func(a, b bson.ObjectID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range ids {
		body = appendProject(body, id, sums[id])
	}
	return bytes.Clone(body), rest // as long as it must be
}
