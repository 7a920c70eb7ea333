package writes

import (
	"slices"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ShownWriters is how many projects and documents of a range are named.
const ShownWriters = 10

// RangeQuery is a range of keys in Extended JSON; without bounds it is the whole key space.
type RangeQuery struct {
	ns       topology.Namespace // "": the first whose new rows are counted
	min, max string
	window   time.Duration
}

// Parameters are those of the address.
func (q *RangeQuery) Parameters() param.List {
	return param.List{
		CountedCollection(&q.ns),
		param.Text(&q.min, "min", "begin of the range in Extended JSON; hashed fields are hashes"),
		param.Text(&q.max, "max", "its end, which is not part of it"),
		Window(&q.window),
	}
}

// CountedCollection is the collection whose writes are asked for.
func CountedCollection(to *topology.Namespace) param.Param {
	return param.Text(to, "ns", "database.collection; default the first whose new rows are counted")
}

// HeatRange is who wrote to a range of keys lately.
func HeatRange(v answer.View, h HeatSource, q RangeQuery) (api.HeatRange, error) {
	if h.Counts == nil {
		return api.HeatRange{}, fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	out := api.HeatRange{
		Method: heatMethod(heat.NewRows), Window: q.window.String(), Shards: []string{}, Projects: []api.Heat{}, Documents: []api.Heat{},
	}
	ns := q.ns
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
	span, err := q.span(v, c)
	if err != nil {
		return out, err
	}
	w := h.Counts.Window(c.NS, q.window)
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
		line.ID, line.Project = w.DocumentText(l.Document), l.Project.Hex()
		return line
	})
	return projects, documents
}

func (q RangeQuery) span(v answer.View, c *topology.Collection) (span shardkey.Range, err error) {
	span = shardkey.Range{Min: c.Key.Min(), Max: c.Key.Max()}
	if q.min+q.max != "" {
		if err := answer.MayNameKeys(v); err != nil {
			return span, err
		}
	}
	if q.min != "" {
		if span.Min, err = answer.BoundKey(c.Key, q.min); err != nil {
			return span, err
		}
	}
	if q.max != "" {
		span.Max, err = answer.BoundKey(c.Key, q.max)
	}
	return span, err
}
