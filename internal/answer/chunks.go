package answer

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// chunkListQuery is what of a collection's chunks is asked for.
type chunkListQuery struct {
	limit            int
	jumbo, oversized *bool
	shard, zone      string
	Sort             string
}

func ChunkListOf(in url.Values) (q chunkListQuery, err error) {
	if q.limit, err = LimitOf(in); err != nil {
		return q, err
	}
	if q.jumbo, err = flag(in, "jumbo"); err != nil {
		return q, err
	}
	if q.oversized, err = flag(in, "oversized"); err != nil {
		return q, err
	}
	q.shard, q.zone = in.Get("shard"), in.Get("zone")
	q.Sort, err = chunkOrder(in)
	return q, err
}

// takes tells whether the filters let a chunk through.
func (q chunkListQuery) Takes(v View, c *topology.Collection, f *ChunkFigures, i int, ch topology.Chunk) bool {
	if q.shard != "" && ch.Shard != q.shard || q.jumbo != nil && ch.Jumbo != *q.jumbo {
		return false
	}
	if q.zone != "" {
		if name, _ := v.Table.ZoneOf(c, i); name != q.zone {
			return false
		}
	}
	return q.oversized == nil || f.oversized(i, ch.Shard) == *q.oversized
}

func (q chunkListQuery) Row(v View, c *topology.Collection, f *ChunkFigures, i int) api.Chunk {
	row := chunkOf(c, c.Chunks.At(i))
	row.Zone, row.Straddles = v.Table.ZoneOf(c, i)
	row.MovingTo = f.moving[i]
	f.sizeInto(&row, i)
	return row
}

// inOrder is a page in the order of the key.
func (q chunkListQuery) InOrder(v View, c *topology.Collection, f *ChunkFigures, in url.Values, out *api.ChunkList) error {
	from, to, err := chunkSpan(v, c, in)
	if err != nil {
		return err
	}
	for i, ch := range c.Chunks.Range(from, to) {
		if !q.Takes(v, c, f, i, ch) {
			continue
		}
		if len(out.Items) == q.limit { // one more exists: it begins the next page
			out.Next = nextChunk(v, c, i, ch)
			break
		}
		row := q.Row(v, c, f, i)
		if row.Measured {
			out.Measured++
		}
		out.Items = append(out.Items, row)
	}
	out.Of = len(out.Items)
	return nil
}

// sorted is a page by size or heat. Its cursor is a place: when something is
// measured between two pages, a chunk may come twice or not at all.
func (q chunkListQuery) Sorted(v View, c *topology.Collection, f *ChunkFigures, in url.Values, out *api.ChunkList) error {
	if in.Get("from") != "" || in.Get("key") != "" {
		return fault.New(fault.Invalid, "from= and key= are places in the order of the key; leave them out, or sort=.")
	}
	at := 0
	if key, given, err := CursorKey(in); err != nil {
		return err
	} else if given {
		place, ok := strings.CutPrefix(key, q.Sort+" ")
		if at, err = strconv.Atoi(place); !ok || err != nil || at < 0 {
			return fault.New(fault.Invalid, "This cursor was not given out by this list in this order.")
		}
	}
	hits := positionsFound{to: c.Chunks.Len()}
	if q.shard != "" || q.zone != "" || q.jumbo != nil || q.oversized != nil {
		hits.some = true
		for i, ch := range c.Chunks.All() {
			if q.Takes(v, c, f, i, ch) {
				hits.picked = append(hits.picked, i)
			}
		}
	}
	out.Measured, out.Of = f.measured(hits), hits.Len()
	to := min(at+q.limit, hits.Len())
	for _, i := range f.ranked(hits, q.Sort, min(at, to), to) {
		out.Items = append(out.Items, q.Row(v, c, f, i))
	}
	if to < hits.Len() {
		out.Next = CursorOf(q.Sort + " " + strconv.Itoa(to))
	}
	return nil
}

// nextChunk is where the next page begins. Where bounds are hidden that is a place
// in the list: when a chunk is split between two pages, one may come twice.
func nextChunk(v View, c *topology.Collection, i int, ch topology.Chunk) api.Cursor {
	if v.Hidden.Bounds {
		return CursorOf(byPlace + strconv.Itoa(i))
	}
	return api.Cursor(ChunkRef(c, ch.Min))
}

// byPlace begins a cursor that is a place in the list of chunks.
const byPlace = "place "

// listPlace reads a cursor of nextChunk where bounds are hidden.
func listPlace(q url.Values) (int, error) {
	key, given, err := CursorKey(q)
	if err != nil || !given {
		return 0, err
	}
	text, ok := strings.CutPrefix(key, byPlace)
	at, err := strconv.Atoi(text)
	if !ok || err != nil || at < 0 {
		return 0, fault.New(fault.Invalid, "This cursor was not given out by this list.")
	}
	return at, nil
}

func chunkOf(c *topology.Collection, ch topology.Chunk) api.Chunk {
	return api.Chunk{
		Ref: ChunkRef(c, ch.Min), Min: KeyOf(c.Key, ch.Min), Max: KeyOf(c.Key, ch.Max), Shard: ch.Shard,
		Version: api.Version{Major: ch.Version.Major, Minor: ch.Version.Minor}, Since: api.Instant(ch.Since), Jumbo: ch.Jumbo,
	}
}

// chunkSpan is the positions [from, to) that cursor=, from= or key= leave.
func chunkSpan(v View, c *topology.Collection, q url.Values) (from, to int, err error) {
	to = c.Chunks.Len()
	given := 0
	for _, name := range []string{"from", "key"} {
		if q.Get(name) != "" {
			given++
		}
	}
	if given > 0 {
		if err := MayNameKeys(v, "hidden.key"); err != nil {
			return 0, 0, err
		}
	}
	if given == 2 {
		return 0, 0, fault.New(fault.Invalid, "Give from= or key=, not both: one begins a list, the other asks for one chunk.")
	}
	if text := q.Get("key"); text != "" {
		k, err := plainKey(c.Key, text)
		if err != nil {
			return 0, 0, err
		}
		i, _ := c.Chunks.Find(k)
		return i, i + 1, nil
	}
	if text := q.Get("from"); text != "" {
		k, err := BoundKey(c.Key, text)
		if err != nil {
			return 0, 0, err
		}
		from, _ = c.Chunks.Find(k)
	}
	if v.Hidden.Bounds {
		from, err := listPlace(q)
		return min(from, to), to, err
	}
	if ref := q.Get("cursor"); ref != "" { // a later page of a list that began at from=
		k, err := ParseChunkRef(c, ref)
		if err != nil {
			return 0, 0, err
		}
		from, _ = c.Chunks.Find(k)
	}
	return max(from, 0), to, nil
}

// chunkQuery filters a collection's chunk table.
type ChunkQuery struct {
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

func ChunkQueryOf(in url.Values) (ChunkQuery, error) {
	var q ChunkQuery
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

func (q ChunkQuery) Active() bool {
	return q.Text != "" || q.At != "" || q.Shard != "" || q.Zone != "" || q.Jumbo || q.Over
}

// chunkOrder reads ?sort=.
func chunkOrder(in url.Values) (string, error) {
	by := in.Get("sort")
	if !slices.Contains(ChunkOrders, by) {
		return "", fault.New(fault.Invalid, "sort is bytes, documents or heat, or left out for the order of the key; %q is none.", sanitize.Truncate(by, 40))
	}
	return by, nil
}

func (q ChunkQuery) Url(ns topology.Namespace) func(page int) string {
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
		return address(CollectionURL(ns), u, page)
	}
}

// positionsFound are chunk positions: a plain range, or a list when a filter
// has picked some of it.
type positionsFound struct {
	from, to int
	picked   []int
	some     bool
}

func (p positionsFound) Len() int {
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

func (q ChunkQuery) Find(t *topology.Table, c *topology.Collection, f *ChunkFigures) (positionsFound, string) {
	p := positionsFound{to: c.Chunks.Len()}
	problem := ""
	if q.At != "" {
		r, ok := KeyPosition(c.Key, q.At)
		if !ok {
			return positionsFound{}, "That is no key of " + c.Key.String() + ": write an ObjectID, a number (for a hashed field: the hash) or a document in Extended JSON."
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
			problem = "Only the first " + format.Count(textScan) + " chunks were searched for the text; narrow by shard or key."
			break
		}
		if q.Takes(t, c, i) {
			p.picked = append(p.picked, i)
		}
	}
	return p, problem
}

func (q ChunkQuery) Takes(t *topology.Table, c *topology.Collection, i int) bool {
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
