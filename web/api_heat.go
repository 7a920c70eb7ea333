package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

const defaultWindow = 5 * time.Minute

// windowOf reads ?window=, a Go duration.
func windowOf(q url.Values) (time.Duration, error) {
	text := q.Get("window")
	if text == "" {
		return defaultWindow, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < heat.Shortest || d > heat.Longest {
		return 0, fault.New(fault.Invalid, "window is a duration from 10s to 24h, such as 5m; %q is not.", sanitize.Truncate(text, 40))
	}
	return d, nil
}

// heatLines makes the lines of windows for an answer.
type heatLines func(v View, w []heat.Window) []api.Heat

// heatWindows are one collection's, or those of all whose new rows are counted:
// what is known of changed rows is of few projects, and no part of a sum.
func (s *Site) heatWindows(v View, only topology.Namespace, d time.Duration) ([]heat.Window, error) {
	all := s.deps.Heat.Counted(v.Table)
	method := heat.NewRows
	if only != "" {
		c, known := heat.CoverageOf(v.Table, s.deps.Profile, only)
		if !known || c.Not != "" {
			return nil, writesNotCounted(c, known)
		}
		all, method = []topology.Namespace{only}, c.Method
	}
	out := make([]heat.Window, 0, len(all))
	for _, ns := range all {
		w := s.deps.Heat.Window(ns, d)
		if w.Seconds == 0 {
			w.Method = method // an empty window does not know
		}
		out = append(out, w)
	}
	return out, nil
}

// staleAfter is from which age on a newer count should be there.
func staleAfter(m heat.Method) time.Duration {
	if m == heat.ChangedRows {
		return 2*keyvis.Finest + 3*heat.Tick
	}
	return 3 * heat.Tick
}

// apiHeat answers a list of what is hot, hottest first.
func (s *Site) apiHeat(w http.ResponseWriter, r *http.Request, lines heatLines) error {
	v, err := s.loaded(r)
	if err != nil {
		return err
	}
	if s.deps.Heat == nil {
		return fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	q := r.URL.Query()
	d, err := windowOf(q)
	if err != nil {
		return err
	}
	limit, err := limitOf(q)
	if err != nil {
		return err
	}
	windows, err := s.heatWindows(v, topology.Namespace(q.Get("ns")), d)
	if err != nil {
		return err
	}
	out := s.heatList(v, windows, d)
	for _, line := range lines(v, windows) {
		line.Window = d.String()
		out.Items = append(out.Items, line)
	}
	slices.SortStableFunc(out.Items, func(a, b api.Heat) int { return cmp.Compare(b.WritesPerSecond, a.WritesPerSecond) })
	out.Items = out.Items[:min(len(out.Items), limit)]
	return writeJSON(w, http.StatusOK, out)
}

func (s *Site) apiHeatProjects(w http.ResponseWriter, r *http.Request) error {
	return s.apiHeat(w, r, func(v View, windows []heat.Window) (out []api.Heat) {
		for _, sum := range heat.Sums(windows, heat.Window.Projects) {
			line := summed(sum, windows)
			line.ID = sum.Line.Project.Hex()
			if p, ok := v.Dir.In(sum.DB, sum.Line.Project); ok {
				line.Name = p.Name
			}
			for _, u := range s.deps.Heat.Updated(sum.DB, sum.Line.Project) {
				line.Updated = append(line.Updated, api.HeatUpdated{NS: string(u.NS), From: api.Time(u.From), To: api.Time(u.To), Rows: u.Rows, AtLeastRowsPerSecond: u.PerSecond()})
			}
			out = append(out, line)
		}
		return out
	})
}

func (s *Site) apiHeatDocuments(w http.ResponseWriter, r *http.Request) error {
	return s.apiHeat(w, r, func(v View, windows []heat.Window) (out []api.Heat) {
		for _, sum := range heat.Sums(windows, heat.Window.Documents) {
			line := summed(sum, windows)
			line.ID, line.Project = sum.Line.Document.Hex(), sum.Line.Project.Hex()
			line.Shard = heat.OwnerOf(v.Table, s.deps.Profile, topology.Namespace(line.NS), sum.Line)
			out = append(out, line)
		}
		return out
	})
}

func (s *Site) apiHeatChunks(w http.ResponseWriter, r *http.Request) error {
	return s.apiHeat(w, r, func(v View, windows []heat.Window) (out []api.Heat) {
		plans := s.offers(r, v.Table) != nil // else they are not for this person, or for nobody
		rates := sync.OnceValue(func() map[string]float64 {
			d, err := windowOf(r.URL.Query())
			if err != nil {
				return nil
			}
			return s.shardWrites(v, heatQuery{window: d})
		})
		for _, window := range windows {
			c := v.Table.Collection(window.NS)
			shards := byShard(window.Shards(v.Table, s.deps.Profile))
			lines := window.Chunks(v.Table, s.deps.Profile)
			splits := window.Splittings(v.Table, s.deps.Profile, lines)
			for i, l := range lines {
				chunk := c.Chunks.At(l.Chunk)
				line := ratedIn(window, l.Rate)
				line.ID, line.Shard = chunkRef(c, chunk.Min), chunk.Shard
				line.Bounds = &api.HeatBounds{Min: keyOf(c.Key, chunk.Min), Max: keyOf(c.Key, chunk.Max)}
				line.Projects = &l.Projects
				line.Split, line.Why = splits[i].Code, splitText(c, splits[i])
				if kind, to := hotPlan(v.Table, c, l.Chunk, splits[i], rates); plans && kind != "" {
					line.Plan = &api.HeatPlan{Kind: string(kind), Args: api.PlanArgs{NS: string(c.NS), Chunk: line.ID, To: to}}
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

func (s *Site) apiHeatShards(w http.ResponseWriter, r *http.Request) error {
	return s.apiHeat(w, r, func(v View, windows []heat.Window) (out []api.Heat) {
		shards := func(w heat.Window) []heat.Line { return w.Shards(v.Table, s.deps.Profile) }
		for _, sum := range heat.Sums(windows, shards) {
			line := summed(sum, windows)
			line.ID, line.Name, line.Shard = sum.Line.Shard, sum.Line.Shard, sum.Line.Shard
			var loads []heat.Load
			for _, w := range windows {
				if c := v.Table.Collection(w.NS); c != nil && c.Chunks.CountByShard()[sum.Line.Shard] > 0 { // others are not asked
					loads = append(loads, s.deps.Heat.Load(w.NS)[sum.Line.Shard])
				}
			}
			if o := heat.Together(loads); o.Known {
				readMillis, writeMillis := millis(o.ReadLatency), millis(o.WriteLatency)
				line.ReadsPerSecond, line.WriteOperationsPerSecond = &o.ReadsPerSecond, &o.WritesPerSecond
				line.ReadMillis, line.WriteMillis = &readMillis, &writeMillis
				line.OperationsFrom, line.OperationsTo = api.Time(o.From), api.Time(o.To)
			}
			out = append(out, line)
		}
		return out
	})
}

// summed is a line of several windows together, those it took nothing in too.
func summed(sum heat.Sum, windows []heat.Window) api.Heat {
	out := rated(sum.Line.Rate)
	for _, w := range windows {
		if sum.DB != "" && sum.DB != w.NS.Database() {
			continue
		}
		one := ratedIn(w, w.Total)
		switch {
		case out.NS == "":
			out.NS, out.Counts, out.From, out.To, out.CoveredSeconds = one.NS, one.Counts, one.From, one.To, one.CoveredSeconds
		default:
			out.CoveredSeconds = min(out.CoveredSeconds, one.CoveredSeconds)
			if one.From != nil && (out.From == nil || one.From.Before(*out.From)) {
				out.From = one.From
			}
			if one.To != nil && (out.To == nil || one.To.After(*out.To)) {
				out.To = one.To
			}
		}
	}
	for i, p := range sum.Parts {
		if i == 0 {
			out.NS = string(p.NS)
		}
		part := rated(p.Rate)
		out.Parts = append(out.Parts, api.HeatPart{NS: string(p.NS), WritesPerSecond: part.WritesPerSecond, PlusMinus: part.PlusMinus,
			Exact: part.Exact, AtLeast: part.AtLeast, Share: part.Share})
	}
	if len(windows) == 1 {
		out.Parts = nil // the line says it all
	}
	return out
}

// ratedIn is a rate in one window.
func ratedIn(w heat.Window, r heat.Rate) api.Heat {
	out := rated(r)
	out.NS, out.Counts, out.From, out.To, out.CoveredSeconds = string(w.NS), w.Method.String(), api.Time(w.From), api.Time(w.To), w.Seconds
	return out
}

// methodOf says how a collection is counted.
func methodOf(m heat.Method) api.HeatMethod {
	if m == heat.ChangedRows {
		return api.HeatMethod{Counts: m.String(), Of: "hottestProjects", Projects: heat.HottestProjects, LowerBound: true, EverySeconds: int(keyvis.Finest / time.Second)}
	}
	return api.HeatMethod{Counts: m.String(), Of: "allProjects", EverySeconds: int(heat.Tick / time.Second)}
}

// rated is a rate alone.
func rated(r heat.Rate) api.Heat {
	out := api.Heat{WritesPerSecond: r.PerSecond, Exact: r.Exact, AtLeast: r.AtLeast, Share: r.Share}
	if r.PlusMinus > 0 {
		out.PlusMinus = &r.PlusMinus
	}
	return out
}

func byShard(lines []heat.Line) map[string]float64 {
	out := make(map[string]float64, len(lines))
	for _, l := range lines {
		out[l.Shard] = l.Rate.PerSecond
	}
	return out
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
