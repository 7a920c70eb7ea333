package writes

import (
	"net/url"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ShownWriters is how many projects and documents of a range are named.
const ShownWriters = 10

// HeatRange is who wrote to a range of keys lately: ?ns=, ?window=, and ?min= and ?max=
// in Extended JSON, without which it is the whole key space.
func HeatRange(v answer.View, h HeatSource, q url.Values) (api.HeatRange, error) {
	if h.Counts == nil {
		return api.HeatRange{}, fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	d, err := parseWindow(q)
	if err != nil {
		return api.HeatRange{}, err
	}
	out := api.HeatRange{
		Method: heatMethod(heat.NewRows), Window: d.String(), Shards: []string{}, Projects: []api.Heat{}, Documents: []api.Heat{},
	}
	ns := topology.Namespace(q.Get("ns"))
	if ns == "" {
		all := h.Counts.Counted(v.Table)
		if len(all) == 0 {
			return out, nil
		}
		ns = all[0]
	}
	c := v.Table.Collection(ns)
	if c == nil {
		return out, noCollection(ns)
	}
	span, err := parseKeyRange(v, c, q)
	if err != nil {
		return out, err
	}
	w := h.Counts.Window(c.NS, d)
	part := w.Within(v.Table, v.Profile, span)
	rate := rateIn(w, part.Range())
	out.NS, out.Method, out.From, out.To, out.CoveredSeconds = rate.NS, heatMethod(w.Method), rate.From, rate.To, rate.CoveredSeconds
	out.WritesPerSecond, out.PlusMinus, out.Share = rate.WritesPerSecond, rate.PlusMinus, rate.Share
	out.Exact, out.AtLeast = rate.Exact, rate.AtLeast
	out.Min, out.Max = answer.KeyOf(c.Key, span.Min), answer.KeyOf(c.Key, span.Max)
	from, to := c.Chunks.Overlap(span)
	out.Chunks = to - from
	for i := from; i < to && len(out.Shards) < 100; i++ {
		if owner := c.Chunks.Owner(i); !slices.Contains(out.Shards, owner) {
			out.Shards = append(out.Shards, owner)
		}
	}
	natural.Sort(out.Shards)
	out.Projects, out.Documents = rangeWriters(v, w, part, out.Window)
	return out, nil
}

// rangeWriters are the projects and documents that wrote most to a part of a window.
func rangeWriters(v answer.View, w, part heat.Window, length string) (projects, documents []api.Heat) {
	writer := func(l heat.Line) api.Heat {
		line := rateIn(w, l.Rate)
		line.Window, line.Name = length, v.ProjectName(w.NS.Database(), l.Project)
		return line
	}
	projects = answer.Map(First(part.Projects(), ShownWriters), func(l heat.Line) api.Heat {
		line := writer(l)
		line.ID = l.Project.Hex()
		return line
	})
	documents = answer.Map(First(part.Documents(), ShownWriters), func(l heat.Line) api.Heat {
		line := writer(l)
		line.ID, line.Project = l.Document.Hex(), l.Project.Hex()
		return line
	})
	return projects, documents
}

// parseKeyRange reads ?min= and ?max=.
func parseKeyRange(v answer.View, c *topology.Collection, q url.Values) (shardkey.Range, error) {
	span := shardkey.Range{Min: c.Key.Min(), Max: c.Key.Max()}
	for name, into := range map[string]*shardkey.Key{"min": &span.Min, "max": &span.Max} {
		text := q.Get(name)
		if text == "" {
			continue
		}
		if err := answer.MayNameKeys(v); err != nil {
			return span, err
		}
		var err error
		if *into, err = answer.BoundKey(c.Key, text); err != nil {
			return span, err
		}
	}
	return span, nil
}
