package heat

import (
	"net/http"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// apiHeatRange answers who wrote to a range of keys lately.
func ApiHeatRange(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	if s.Deps.Heat == nil {
		return fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	d, err := answer.WindowOf(q)
	if err != nil {
		return err
	}
	ns := topology.Namespace(q.Get("ns"))
	if ns == "" {
		all := s.Deps.Heat.Counted(v.Table)
		if len(all) == 0 {
			return site.WriteJSON(w, http.StatusOK, api.HeatRange{Method: answer.MethodOf(heat.NewRows), Window: d.String(), Shards: []string{}, Projects: []api.Heat{}, Documents: []api.Heat{}})
		}
		ns = all[0]
	}
	c := v.Table.Collection(ns)
	if c == nil {
		return fault.New(fault.NotFound, "There is no sharded collection %q. Names are database.collection.", sanitize.Truncate(string(ns), 200))
	}
	span := shardkey.Range{Min: c.Key.Min(), Max: c.Key.Max()}
	for name, into := range map[string]*shardkey.Key{"min": &span.Min, "max": &span.Max} {
		if text := q.Get(name); text != "" {
			if err := answer.MayNameKeys(v, "hidden.key"); err != nil {
				return err
			}
			if *into, err = answer.BoundKey(c.Key, text); err != nil {
				return err
			}
		}
	}
	window := s.Deps.Heat.Window(c.NS, d)
	part := window.Within(v.Table, s.Deps.Profile, span)
	rate := part.Range()
	from, to := c.Chunks.Overlap(span)
	out := api.HeatRange{NS: string(c.NS), Method: answer.MethodOf(window.Method), Min: answer.KeyOf(c.Key, span.Min), Max: answer.KeyOf(c.Key, span.Max), Chunks: to - from, Shards: []string{},
		Window: d.String(), From: api.Time(window.From), To: api.Time(window.To), CoveredSeconds: window.Seconds,
		WritesPerSecond: rate.PerSecond, Exact: rate.Exact, AtLeast: rate.AtLeast, Share: rate.Share, Projects: []api.Heat{}, Documents: []api.Heat{}}
	if rate.PlusMinus > 0 {
		out.PlusMinus = &rate.PlusMinus
	}
	for i := from; i < to && len(out.Shards) < 100; i++ {
		if owner := c.Chunks.Owner(i); !slices.Contains(out.Shards, owner) {
			out.Shards = append(out.Shards, owner)
		}
	}
	slices.Sort(out.Shards)
	add := func(to *[]api.Heat, l heat.Line, one api.Heat) {
		line := answer.RatedIn(window, l.Rate)
		line.ID, line.Project, line.Window = one.ID, one.Project, out.Window
		if p, ok := v.Dir.In(c.NS.Database(), l.Project); ok {
			line.Name = p.Name
		}
		*to = append(*to, line)
	}
	for _, l := range answer.First(part.Projects(), answer.ShownWriters) {
		add(&out.Projects, l, api.Heat{ID: l.Project.Hex()})
	}
	for _, l := range answer.First(part.Documents(), answer.ShownWriters) {
		add(&out.Documents, l, api.Heat{ID: l.Document.Hex(), Project: l.Project.Hex()})
	}
	return site.WriteJSON(w, http.StatusOK, out)
}
