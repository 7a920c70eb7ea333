package spread

import (
	"cmp"
	"slices"
)

// list adds the list of a row's shards, most first, if it is open: on a small screen it is easier to
// read than columns. Shards that certainly have nothing are only counted.
func (m *matrix) list(row *MatrixRow, l *matrixLine, byShard []shardMoves) {
	key := "shards:" + row.Key
	row.ListURL = m.q.toggled(key, false).URL()
	if !m.q.isOpen(key, false) {
		return
	}
	var places []int
	for i, a := range l.shards {
		if a.nowhere() && (byShard == nil || len(byShard[i].leaving)+len(byShard[i].arriving) == 0) {
			row.Empty++
		} else {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(l.shards[b].order(), l.shards[a].order()) })
	row.Listed = []MatrixListed{}
	for _, i := range places {
		one := MatrixListed{Shard: m.v.Table.Shards[i].Name, MatrixCell: m.cell(l, l.shards[i], m.columns[i])}
		if !leafRow(row.Kind) {
			one.Moved = ""
		}
		if l.link != nil {
			one.URL = l.link(one.Shard)
		}
		if byShard != nil {
			one.Out, one.In = ghost(byShard[i].leaving, true, m.measure), ghost(byShard[i].arriving, false, m.measure)
		}
		row.Listed = append(row.Listed, one)
	}
}

// leafRow tells whether a row is of one collection or project. Only those say which numbers are older
// than a move: the sums of a busy cluster always are.
func leafRow(kind string) bool { return kind == "collection" || kind == "project" || kind == "part" }
