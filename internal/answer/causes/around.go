package causes

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const (
	neighboursBeside = 10 // on each side
	projectsOfChunk  = 50
)

// ChunkAround is what a chunk was, what is beside it and who writes to it. kept is nil where no history
// is recorded.
func ChunkAround(ctx context.Context, v answer.View, h writes.HeatSource, kept *history.Past, c *topology.Collection,
	i int) api.ChunkAround {
	ch := c.Chunks.At(i)
	out := api.ChunkAround{Last: v.LastWrites(),
		NS: string(c.NS), Ref: answer.ChunkRef(c, ch.Min), Owners: data.ChunkOwners(ctx, v, kept, c, ch), Freshness: answer.WhyFreshness(v),
		Neighbours: []api.ChunkNeighbour{}, Projects: []api.ChunkProject{}, Writes: chunkCurve(v, h, c, ch)}
	out.Neighbours, out.Rank = neighbours(v, c, i)
	var all []api.ChunkProject
	all, out.ProjectsBy = projectsIn(v, h, c, i)
	out.Projects = append(out.Projects, writes.First(all, projectsOfChunk)...)
	out.MoreProjects = len(all) - len(out.Projects)
	return out
}

// neighbours are the chunks before and after one, and its place by size among them.
func neighbours(v answer.View, c *topology.Collection, i int) (list []api.ChunkNeighbour, rank int) {
	rows := data.NewChunkRows(v, c)
	for n := max(i-neighboursBeside, 0); n < min(i+neighboursBeside+1, c.Chunks.Len()); n++ {
		list = append(list, api.ChunkNeighbour{Chunk: rows.Row(n), Self: n == i})
	}
	own := rows.Row(i).Bytes.Value
	if own == nil {
		return list, 0
	}
	rank = 1
	for _, n := range list {
		if n.Bytes.Value != nil && *n.Bytes.Value > *own {
			rank++
		}
	}
	return list, rank
}

// chunkCurve is the recorded writes of a chunk. The recorded picture joins neighbours with few writes
// in one row, whose writes cannot be divided again.
func chunkCurve(v answer.View, h writes.HeatSource, c *topology.Collection, ch topology.Chunk) api.ChunkWriteCurve {
	out := api.ChunkWriteCurve{Rates: []*float64{}, Chunks: 1}
	if h.Pictures == nil || v.Past != nil {
		return out
	}
	p, ok := h.Pictures.View(c.NS, keyvis.ByKey, v.Now.Add(-writes.DefaultSpan), v.Now)
	if !ok || len(p.Columns) == 0 {
		return out
	}
	how, _ := heat.CoverageOf(v.Table, v.Profile, c.NS)
	out.AtLeast = how.Method == heat.ChangedRows
	out.From, out.To = api.Time(p.Columns[0].From), api.Time(p.Columns[len(p.Columns)-1].End())
	first, last := rowsOf(p, ch)
	end := c.Key.Max()
	if last+1 < len(p.Bounds) {
		end = p.Bounds[last+1]
	}
	from, to := c.Chunks.Overlap(shardkey.Range{Min: p.Bounds[first], Max: end})
	out.Chunks = max(to-from, 1)
	for col := range p.Columns {
		sum, known := 0.0, true
		for row := first; row <= last; row++ {
			x, ok := p.PerSecond(row, col)
			sum, known = sum+x, known && ok
		}
		var rate *float64
		if known {
			rate = &sum
		}
		out.Rates = append(out.Rates, rate)
	}
	return out
}

// rowsOf are the first and the last row of a picture with keys of a chunk.
func rowsOf(p keyvis.View, ch topology.Chunk) (first, last int) {
	at, exact := slices.BinarySearchFunc(p.Bounds, ch.Min, shardkey.Key.Compare)
	if !exact {
		at = max(at-1, 0)
	}
	end, _ := slices.BinarySearchFunc(p.Bounds, ch.Max, shardkey.Key.Compare)
	return at, max(end-1, at)
}

// projectsIn are the projects with keys in a chunk, where its key begins with the project; else those
// that wrote to it lately.
func projectsIn(v answer.View, h writes.HeatSource, c *topology.Collection, i int) (list []api.ChunkProject, by string) {
	rates := map[bson.ObjectID]float64{}
	counted := false
	if h.Counts != nil && v.Past == nil {
		w := h.Counts.Window(c.NS, v.WritesWindow())
		counted = w.Seconds > 0
		for _, l := range w.ProjectChunks(v.Table, v.Profile) { // hottest first
			if l.Chunk != i {
				continue
			}
			rates[l.Project] = l.Rate.PerSecond
			rate := l.Rate.PerSecond
			list = append(list, api.ChunkProject{ID: l.Project.Hex(), Name: v.ProjectName(c.NS.Database(), l.Project), WritesPerSecond: &rate})
		}
	}
	if !answer.LeadsWithProject(v, c) {
		if counted {
			by = "writes"
		}
		return list, by
	}
	if !v.Dir.Loaded() {
		return nil, ""
	}
	list = nil
	ch := c.Chunks.At(i)
	for _, pr := range v.Dir.All() {
		if pr.DB != c.NS.Database() {
			continue
		}
		r, err := c.Key.PrefixRange(pr.IDValue())
		if err != nil || r.Max.Compare(ch.Min) <= 0 || ch.Max.Compare(r.Min) <= 0 {
			continue
		}
		x := api.ChunkProject{ID: pr.ID.Hex(), Name: pr.Name, Alone: r.Min.Compare(ch.Min) <= 0 && ch.Max.Compare(r.Max) <= 0}
		if rate, ok := rates[pr.ID]; ok {
			x.WritesPerSecond = &rate
		}
		list = append(list, x)
	}
	return list, "keys"
}
