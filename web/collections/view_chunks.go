package collections

import (
	"maps"
	"slices"
	"sort"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// chunkRows fills the filter, the table and its pages.
func chunkRows(v answer.View, c *topology.Collection, q answer.ChunkQuery, r parts.Refs, m *Collection) {
	m.Filter = ChunkFilter{ByBound: v.Table.Hiding() == nil, Text: q.Text, At: q.At, Jumbo: q.Jumbo, Oversized: q.Over, Sort: parts.ChunkSorts(q), Active: q.Active(), Shards: parts.ShardOptions(v.Table, q.Shard)}
	zones := map[string]bool{}
	for _, z := range v.Table.ZonesOf(c.NS) {
		zones[z.Zone] = true
	}
	m.Filter.Zones = []templates.Option{{Text: "any"}}
	for _, z := range slices.Sorted(maps.Keys(zones)) {
		m.Filter.Zones = append(m.Filter.Zones, templates.Option{Value: z, Text: z, Selected: z == q.Zone})
	}
	f := answer.FiguresOf(v, c)
	hits, problem := q.Find(v.Table, c, f)
	m.Filter.Problem = problem
	carried, moving := v.Table.ZoneShards(), answer.MovingChunks(v, c)
	page, mark := q.Page, -1
	if q.Pos >= 0 && !q.Active() && q.Sort == answer.ByKey {
		at, _ := answer.Positions(c)
		mark = max(sort.Search(c.Chunks.Len(), func(i int) bool { return at(i) > q.Pos })-1, 0)
		if in := mark/answer.PageRows + 1; page <= 1 {
			page = in
		}
	}
	var from, to int
	m.Pager, from, to = parts.Pager(hits.Len(), page, q.Url(c.NS))
	shown := f.Page(hits, q.Sort, from, to)
	m.Heated = f.Heated
	m.Measured = answer.SizesNote(f, hits, q)
	m.SortURLs = answer.SortURLs(c.NS, q)
	if v.Sizes != nil {
		v.Sizes.Viewed(c, shown)
	}
	for _, i := range shown {
		ch := c.Chunks.At(i)
		row := parts.ChunkRow(v, c.Key, i, ch, r)
		parts.SizeCells(&row, v, f, i, ch.Shard)
		row.URL = answer.BesideCollection(answer.ChunkURL(c.NS, answer.ChunkRef(c, ch.Min)))
		row.Zone, row.Straddle = v.Table.ZoneOf(c, i)
		row.Marked = i == mark
		if to := moving[i]; to != "" {
			ref := r.Of(to)
			row.MovingTo = &ref
		}
		row.Wrong = row.Zone != "" && !slices.Contains(carried[row.Zone], ch.Shard)
		m.Chunks = append(m.Chunks, row)
	}
}
