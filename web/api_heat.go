package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
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
		return 0, fault.New(fault.Invalid, "window is a duration from 10s to 24h, such as 5m; %q is not.", clip(text, 40))
	}
	return d, nil
}

// heatLines makes the lines of one window for an answer.
type heatLines func(v View, w heat.Window) []api.Heat

// apiHeat answers a list of what is hot: the collections' lines together,
// hottest first.
func (s *Server) apiHeat(w http.ResponseWriter, r *http.Request, lines heatLines) error {
	v, err := s.loaded()
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
	var out api.List[api.Heat]
	for _, ns := range s.deps.Heat.Collections() {
		if only := q.Get("ns"); only != "" && only != string(ns) {
			continue
		}
		window := s.deps.Heat.Window(ns, d)
		h, _ := s.deps.Heat.Health(ns)
		out.Stale = out.Stale || h.Err != nil || v.Now.Sub(window.To) > 3*heat.Tick
		if out.AsOf.IsZero() || window.To.Before(out.AsOf) {
			out.AsOf = window.To
		}
		for _, line := range lines(v, window) {
			line.NS, line.Window, line.From, line.To, line.CoveredSeconds = string(ns), d.String(), api.Time(window.From), api.Time(window.To), window.Seconds
			out.Items = append(out.Items, line)
		}
	}
	if out.AsOf.IsZero() { // nothing was counted yet
		out.AsOf, out.Stale = v.Now, true
	}
	slices.SortStableFunc(out.Items, func(a, b api.Heat) int { return cmp.Compare(b.WritesPerSecond, a.WritesPerSecond) })
	out.Items = out.Items[:min(len(out.Items), limit)]
	return writeJSON(w, http.StatusOK, out)
}

func (s *Server) apiHeatProjects(w http.ResponseWriter, r *http.Request) error {
	return s.apiHeat(w, r, func(v View, window heat.Window) []api.Heat {
		lines := window.Projects()
		out := make([]api.Heat, len(lines))
		for i, l := range lines {
			out[i] = rated(l)
			out[i].ID = l.Project.Hex()
			if p, ok := v.Dir.In(window.NS.Database(), l.Project); ok {
				out[i].Name = p.Name
			}
			for _, u := range s.deps.Heat.Updated(l.Project) {
				out[i].Updated = append(out[i].Updated, api.HeatUpdated{NS: string(u.NS), Rows: u.Rows, AtLeastRowsPerSecond: u.PerSecond()})
			}
		}
		return out
	})
}

func (s *Server) apiHeatDocuments(w http.ResponseWriter, r *http.Request) error {
	return s.apiHeat(w, r, func(v View, window heat.Window) []api.Heat {
		lines := window.Documents()
		out := make([]api.Heat, len(lines))
		for i, l := range lines {
			out[i] = rated(l)
			out[i].ID, out[i].Project = l.Document.Hex(), l.Project.Hex()
			out[i].Shard = heat.OwnerOf(v.Table, s.deps.Profile, window.NS, l)
		}
		return out
	})
}

func (s *Server) apiHeatChunks(w http.ResponseWriter, r *http.Request) error {
	return s.apiHeat(w, r, func(v View, window heat.Window) []api.Heat {
		c := v.Table.Collection(window.NS)
		lines := window.Chunks(v.Table, s.deps.Profile)
		shards := byShard(window.Shards(v.Table, s.deps.Profile))
		out := make([]api.Heat, len(lines))
		for i, l := range lines {
			chunk := c.Chunks.At(l.Chunk)
			out[i] = rated(l)
			out[i].ID, out[i].Shard = chunkRef(c, chunk.Min), chunk.Shard
			out[i].Bounds = &api.HeatBounds{Min: keyOf(c.Key, chunk.Min), Max: keyOf(c.Key, chunk.Max)}
			out[i].Projects = &l.Projects
			if !l.Top.IsZero() {
				out[i].Top, out[i].TopShare = l.Top.Hex(), &l.TopShare
			}
			if all := shards[chunk.Shard]; all > 0 {
				share := l.Rate.PerSecond / all
				out[i].ShardShare = &share
			}
		}
		return out
	})
}

func (s *Server) apiHeatShards(w http.ResponseWriter, r *http.Request) error {
	return s.apiHeat(w, r, func(v View, window heat.Window) []api.Heat {
		lines, load := window.Shards(v.Table, s.deps.Profile), s.deps.Heat.Load(window.NS)
		out := make([]api.Heat, len(lines))
		for i, l := range lines {
			out[i] = rated(l)
			out[i].ID, out[i].Name, out[i].Shard = l.Shard, l.Shard, l.Shard
			if o, ok := load[l.Shard]; ok && o.Known {
				reads, readMillis, writeMillis := o.ReadsPerSecond, millis(o.ReadLatency), millis(o.WriteLatency)
				out[i].ReadsPerSecond, out[i].ReadMillis, out[i].WriteMillis = &reads, &readMillis, &writeMillis
			}
		}
		return out
	})
}

// rated is a line's rate.
func rated(l heat.Line) api.Heat {
	out := api.Heat{WritesPerSecond: l.Rate.PerSecond, Exact: l.Rate.Exact, AtLeast: l.Rate.AtLeast, Share: l.Rate.Share}
	if l.Rate.PlusMinus > 0 {
		out.PlusMinus = &l.Rate.PlusMinus
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
