package web

import (
	"maps"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// chunkQuery filters a collection's chunk table.
type chunkQuery struct {
	Text  string // part of a bound as shown
	At    string // key position: id, number or Extended JSON
	Shard string
	Zone  string
	Jumbo bool
	Over  bool    // too big to move
	Sort  string  // by key, or largest first by bytes, documents, heat
	Pos   float64 // place in the picture, 0..1; negative for none
	Page  int
}

// textScan bounds how many chunks one text search looks at: each bound has to
// be written out to be compared.
const textScan = 100_000

func chunkQueryOf(in url.Values) (chunkQuery, error) {
	var q chunkQuery
	var err error
	for _, f := range []struct {
		name string
		into *string
	}{{"q", &q.Text}, {"key", &q.At}, {"shard", &q.Shard}, {"zone", &q.Zone}} {
		if *f.into, err = text(in, f.name); err != nil {
			return q, err
		}
	}
	q.Jumbo, q.Over = in.Get("jumbo") == "1", in.Get("oversized") == "1"
	if q.Sort, err = chunkOrder(in); err != nil {
		return q, err
	}
	q.Pos = -1
	if s := in.Get("pos"); s != "" {
		if q.Pos, err = strconv.ParseFloat(s, 64); err != nil || !(q.Pos >= 0 && q.Pos <= 1) {
			return q, fault.New(fault.Invalid, "pos is a number from 0 to 1; %q is not.", sanitize.Truncate(s, 40))
		}
	}
	q.Page, err = pageNumber(in)
	return q, err
}

func (q chunkQuery) active() bool {
	return q.Text != "" || q.At != "" || q.Shard != "" || q.Zone != "" || q.Jumbo || q.Over
}

// chunkOrder reads ?sort=.
func chunkOrder(in url.Values) (string, error) {
	by := in.Get("sort")
	if !slices.Contains(chunkOrders, by) {
		return "", fault.New(fault.Invalid, "sort is bytes, documents or heat, or left out for the order of the key; %q is none.", sanitize.Truncate(by, 40))
	}
	return by, nil
}

func (q chunkQuery) url(ns topology.Namespace) func(page int) string {
	return func(page int) string {
		u := url.Values{}
		set(u, "q", q.Text)
		set(u, "key", q.At)
		set(u, "shard", q.Shard)
		set(u, "zone", q.Zone)
		if q.Jumbo {
			u.Set("jumbo", "1")
		}
		if q.Over {
			u.Set("oversized", "1")
		}
		set(u, "sort", q.Sort)
		return address(collectionURL(ns), u, page)
	}
}

// chunkRows fills the filter, the table and its pages.
func chunkRows(v View, c *topology.Collection, q chunkQuery, r refs, m *templates.Collection) {
	m.Filter = templates.ChunkFilter{ByBound: v.Table.Hiding() == nil, Text: q.Text, At: q.At, Jumbo: q.Jumbo, Oversized: q.Over, Sort: chunkSorts(q), Active: q.active(), Shards: shardOptions(v.Table, q.Shard)}
	zones := map[string]bool{}
	for _, z := range v.Table.ZonesOf(c.NS) {
		zones[z.Zone] = true
	}
	m.Filter.Zones = []templates.Option{{Text: words.T("filter.any")}}
	for _, z := range slices.Sorted(maps.Keys(zones)) {
		m.Filter.Zones = append(m.Filter.Zones, templates.Option{Value: z, Text: z, Selected: z == q.Zone})
	}
	f := figuresOf(v, c)
	hits, problem := q.find(v.Table, c, f)
	m.Filter.Problem = problem
	carried, moving := zoneShards(v.Table), movingChunks(v, c)
	page, mark := q.Page, -1
	if q.Pos >= 0 && !q.active() && q.Sort == byKey {
		at, _ := positions(c)
		mark = max(sort.Search(c.Chunks.Len(), func(i int) bool { return at(i) > q.Pos })-1, 0)
		if in := mark/pageRows + 1; page <= 1 {
			page = in
		}
	}
	var from, to int
	m.Pager, from, to = pager(hits.len(), page, q.url(c.NS))
	shown := f.page(hits, q.Sort, from, to)
	m.Heated = f.heated
	m.Measured = sizesNote(f, hits, q)
	m.SortURLs = sortURLs(c.NS, q)
	if v.Sizes != nil {
		v.Sizes.Viewed(c, shown)
	}
	for _, i := range shown {
		ch := c.Chunks.At(i)
		row := chunkRow(v, c.Key, i, ch, r)
		sizeCells(&row, v, f, i, ch.Shard)
		row.URL = besideCollection(chunkURL(c.NS, chunkRef(c, ch.Min)))
		row.Zone, row.Straddle = v.Table.ZoneOf(c, i)
		row.Marked = i == mark
		if to := moving[i]; to != "" {
			ref := r.of(to)
			row.MovingTo = &ref
		}
		row.Wrong = row.Zone != "" && !slices.Contains(carried[row.Zone], ch.Shard)
		m.Chunks = append(m.Chunks, row)
	}
}

// positionsFound are chunk positions: a plain range, or a list when a filter
// has picked some of it.
type positionsFound struct {
	from, to int
	picked   []int
	some     bool
}

func (p positionsFound) len() int {
	if p.some {
		return len(p.picked)
	}
	return p.to - p.from
}

func (p positionsFound) at(n int) int {
	if p.some {
		return p.picked[n]
	}
	return p.from + n
}

func (q chunkQuery) find(t *topology.Table, c *topology.Collection, f *chunkFigures) (positionsFound, string) {
	p := positionsFound{to: c.Chunks.Len()}
	problem := ""
	if q.At != "" {
		r, ok := keyPosition(c.Key, q.At)
		if !ok {
			return positionsFound{}, words.T("chunks.at.invalid", "key", c.Key.String())
		}
		p.from, p.to = c.Chunks.Overlap(r)
	}
	if q.Shard == "" && q.Zone == "" && q.Text == "" && !q.Jumbo && !q.Over {
		return p, ""
	}
	all := p
	p.some = true
	for i, owner := range all.each(c) {
		if q.Shard != "" && owner != q.Shard || q.Over && !f.oversized(i, owner) {
			continue
		}
		if q.Text != "" && i-p.from > textScan {
			problem = words.T("chunks.toomany", "n", format.Count(textScan))
			break
		}
		if q.takes(t, c, i) {
			p.picked = append(p.picked, i)
		}
	}
	return p, problem
}

func (q chunkQuery) takes(t *topology.Table, c *topology.Collection, i int) bool {
	if q.Zone != "" {
		if z, _ := t.ZoneOf(c, i); z != q.Zone {
			return false
		}
	}
	if q.Text == "" && !q.Jumbo {
		return true
	}
	ch := c.Chunks.At(i)
	if q.Jumbo && !ch.Jumbo {
		return false
	}
	return q.Text == "" || strings.Contains(c.Key.Display(ch.Min), q.Text) || strings.Contains(c.Key.Display(ch.Max), q.Text)
}
