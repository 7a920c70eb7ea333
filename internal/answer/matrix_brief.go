package answer

import (
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Bounds of the small matrix of the overview: its collections, and the shards that have a column each.
const (
	briefRows   = 6
	briefShards = 8
)

// MatrixBrief is the matrix of the largest collections in bytes, where the others and groups of shards
// are sums. Its Lead says in a sentence what it shows.
type MatrixBrief struct {
	MatrixTable
	Lead string
}

// BriefMatrix is the small matrix of the overview; without rows if sizes are not known.
func BriefMatrix(v View) MatrixBrief {
	var q MatrixQuery
	if len(v.Table.Shards) > briefShards {
		q.Columns = MatrixGrouped
	}
	m := newMatrix(v, MatrixSource{}, q)
	if s := PartState(v, topology.PartSizes); s.Code != "" && s.Code != "stale" && s.Code != "partial" {
		m.out.State = s
		return MatrixBrief{MatrixTable: m.out}
	}
	lines, _ := m.collectionLines()
	if len(lines) < 2 || len(v.Table.Shards) < 2 {
		return MatrixBrief{MatrixTable: m.out}
	}
	m.takeTotals(sumLine(v.Table, lines), format.Count(int64(len(lines)))+" collections")
	m.sort(lines)
	shown := lines[:min(len(lines), briefRows)]
	if len(lines) == briefRows+1 {
		shown = lines // one more row is no longer than a row of others
	}
	for _, l := range shown {
		m.add(l)
	}
	m.addOthers(lines[len(shown):], "others", others(len(lines)-len(shown)), q.URL(), 0)
	if q.Columns == MatrixGrouped {
		m.leaveLinksToHeads()
	}
	return MatrixBrief{MatrixTable: m.out, Lead: briefLead(v, lines)}
}

// leaveLinksToHeads takes the links out of cells of groups: the head of the column has the same one.
func (m *matrix) leaveLinksToHeads() {
	for _, row := range m.out.Rows {
		for i := range row.Cells {
			row.Cells[i].URL = ""
		}
	}
}

// briefLead names the sharded collection of which a shard has most bytes beyond an even share.
func briefLead(v View, lines []matrixLine) string {
	name, at, excess := "", -1, 0.0
	even := 1 / float64(len(v.Table.Shards))
	for _, l := range lines {
		c := v.Table.Collection(topology.Namespace(l.name))
		if c == nil || c.Unsplittable || !l.total.known {
			continue
		}
		for i, a := range l.shards {
			if over := a.value - even*l.total.value; a.known && over > excess {
				name, at, excess = l.name, i, over
			}
		}
	}
	if at < 0 {
		return ""
	}
	return message.New("matrix.brief", "largest excess: {shard} has {over} more of {ns} than an even share",
		message.Words("ns", name), message.Shard("shard", v.Table.Shards[at].Name),
		message.Words("over", format.Bytes(int64(excess)))).String()
}
