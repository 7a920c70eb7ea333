package heat

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// heatWindows are one collection's, or those of all whose new rows are counted:
// what is known of changed rows is of few projects, and no part of a sum.
func heatWindows(s *site.Site, v answer.View, only topology.Namespace, d time.Duration) ([]heat.Window, error) {
	all := s.Deps.Heat.Counted(v.Table)
	method := heat.NewRows
	if only != "" {
		c, known := heat.CoverageOf(v.Table, s.Deps.Profile, only)
		if !known || c.Not != "" {
			return nil, answer.WritesNotCounted(c, known)
		}
		all, method = []topology.Namespace{only}, c.Method
	}
	out := make([]heat.Window, 0, len(all))
	for _, ns := range all {
		w := s.Deps.Heat.Window(ns, d)
		if w.Seconds == 0 {
			w.Method = method // an empty window does not know
		}
		out = append(out, w)
	}
	return out, nil
}

// apiHeat answers a list of what is hot, hottest first.
func apiHeat(s *site.Site, w http.ResponseWriter, r *http.Request, lines answer.HeatLines) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	if s.Deps.Heat == nil {
		return fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	q := r.URL.Query()
	d, err := answer.WindowOf(q)
	if err != nil {
		return err
	}
	limit, err := answer.LimitOf(q)
	if err != nil {
		return err
	}
	windows, err := heatWindows(s, v, topology.Namespace(q.Get("ns")), d)
	if err != nil {
		return err
	}
	out := heatList(s, v, windows, d)
	for _, line := range lines(v, windows) {
		line.Window = d.String()
		out.Items = append(out.Items, line)
	}
	slices.SortStableFunc(out.Items, func(a, b api.Heat) int { return cmp.Compare(b.WritesPerSecond, a.WritesPerSecond) })
	out.Items = out.Items[:min(len(out.Items), limit)]
	return site.WriteJSON(w, http.StatusOK, out)
}

func ApiHeatProjects(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return apiHeat(s, w, r, func(v answer.View, windows []heat.Window) (out []api.Heat) {
		for _, sum := range heat.Sums(windows, heat.Window.Projects) {
			line := answer.Summed(sum, windows)
			line.ID = sum.Line.Project.Hex()
			if p, ok := v.Dir.In(sum.DB, sum.Line.Project); ok {
				line.Name = p.Name
			}
			for _, u := range s.Deps.Heat.Updated(sum.DB, sum.Line.Project) {
				line.Updated = append(line.Updated, api.HeatUpdated{NS: string(u.NS), From: api.Time(u.From), To: api.Time(u.To), Rows: u.Rows, AtLeastRowsPerSecond: u.PerSecond()})
			}
			out = append(out, line)
		}
		return out
	})
}

func ApiHeatDocuments(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return apiHeat(s, w, r, func(v answer.View, windows []heat.Window) (out []api.Heat) {
		for _, sum := range heat.Sums(windows, heat.Window.Documents) {
			line := answer.Summed(sum, windows)
			line.ID, line.Project = sum.Line.Document.Hex(), sum.Line.Project.Hex()
			line.Shard = heat.OwnerOf(v.Table, s.Deps.Profile, topology.Namespace(line.NS), sum.Line)
			out = append(out, line)
		}
		return out
	})
}

func ApiHeatChunks(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return apiHeat(s, w, r, func(v answer.View, windows []heat.Window) (out []api.Heat) {
		plans := s.Offers(r, v.Table) != nil // else they are not for this person, or for nobody
		rates := sync.OnceValue(func() map[string]float64 {
			d, err := answer.WindowOf(r.URL.Query())
			if err != nil {
				return nil
			}
			return shardWrites(s, v, answer.HeatQuery{Window: d})
		})
		for _, window := range windows {
			c := v.Table.Collection(window.NS)
			shards := answer.ByShard(window.Shards(v.Table, s.Deps.Profile))
			lines := window.Chunks(v.Table, s.Deps.Profile)
			splits := window.Splittings(v.Table, s.Deps.Profile, lines)
			for i, l := range lines {
				chunk := c.Chunks.At(l.Chunk)
				line := answer.RatedIn(window, l.Rate)
				line.ID, line.Shard = answer.ChunkRef(c, chunk.Min), chunk.Shard
				line.Bounds = &api.HeatBounds{Min: answer.KeyOf(c.Key, chunk.Min), Max: answer.KeyOf(c.Key, chunk.Max)}
				line.Projects = &l.Projects
				line.Split, line.Why = splits[i].Code, answer.SplitText(c, splits[i])
				if kind, to := answer.HotPlan(v.Table, c, l.Chunk, splits[i], rates); plans && kind != "" {
					line.Plan = &api.HeatPlan{Kind: string(kind),
						Args: api.PlanArgs{RawMessage: actions.Args{NS: c.NS, Chunk: line.ID, To: to}.JSON()}}
				}
				if splits[i].Can || splits[i].Code != "unknown" {
					line.CanSplit = &splits[i].Can
				}
				if !l.Top.IsZero() {
					line.Top, line.TopShare = l.Top.Hex(), &l.TopShare
				}
				if all := shards[chunk.Shard]; all > 0 {
					share := l.Rate.PerSecond / all
					line.ShardShare = &share
				}
				out = append(out, line)
			}
		}
		return out
	})
}

func ApiHeatShards(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return apiHeat(s, w, r, func(v answer.View, windows []heat.Window) (out []api.Heat) {
		shards := func(w heat.Window) []heat.Line { return w.Shards(v.Table, s.Deps.Profile) }
		for _, sum := range heat.Sums(windows, shards) {
			line := answer.Summed(sum, windows)
			line.ID, line.Name, line.Shard = sum.Line.Shard, sum.Line.Shard, sum.Line.Shard
			var loads []heat.Load
			for _, w := range windows {
				if c := v.Table.Collection(w.NS); c != nil && c.Chunks.CountByShard()[sum.Line.Shard] > 0 { // others are not asked
					loads = append(loads, s.Deps.Heat.Load(w.NS)[sum.Line.Shard])
				}
			}
			if o := heat.Together(loads); o.Known {
				readMillis, writeMillis := answer.Millis(o.ReadLatency), answer.Millis(o.WriteLatency)
				line.ReadsPerSecond, line.WriteOperationsPerSecond = &o.ReadsPerSecond, &o.WritesPerSecond
				line.ReadMillis, line.WriteMillis = &readMillis, &writeMillis
				line.OperationsFrom, line.OperationsTo = api.Time(o.From), api.Time(o.To)
			}
			out = append(out, line)
		}
		return out
	})
}
