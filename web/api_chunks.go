package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// apiChunks lists a collection's chunks, in key order or by size or heat. In key
// order its cursor is the reference of the next chunk: when that was merged away
// meanwhile, the page begins with the chunk that now holds its lower bound, so
// nothing is skipped. In another order it is a place in the list.
func (s *Site) apiChunks(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	c, err := s.sharded(r, v.Table)
	if err != nil {
		return err
	}
	q, err := chunkListOf(r.URL.Query())
	if err != nil {
		return err
	}
	f := figuresOf(v, c)
	out := api.ChunkList{Items: []api.Chunk{}, Order: cmp.Or(q.sort, "key")}
	if q.sort == byKey {
		err = q.inOrder(v, c, f, r.URL.Query(), &out)
	} else {
		err = q.sorted(v, c, f, r.URL.Query(), &out)
	}
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = asOf(v, topology.PartRouting)
	return writeJSON(w, http.StatusOK, out)
}

// chunkListQuery is what of a collection's chunks is asked for.
type chunkListQuery struct {
	limit            int
	jumbo, oversized *bool
	shard, zone      string
	sort             string
}

func chunkListOf(in url.Values) (q chunkListQuery, err error) {
	if q.limit, err = limitOf(in); err != nil {
		return q, err
	}
	if q.jumbo, err = flag(in, "jumbo"); err != nil {
		return q, err
	}
	if q.oversized, err = flag(in, "oversized"); err != nil {
		return q, err
	}
	q.shard, q.zone = in.Get("shard"), in.Get("zone")
	q.sort, err = chunkOrder(in)
	return q, err
}

// takes tells whether the filters let a chunk through.
func (q chunkListQuery) takes(v View, c *topology.Collection, f *chunkFigures, i int, ch topology.Chunk) bool {
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

func (q chunkListQuery) row(v View, c *topology.Collection, f *chunkFigures, i int) api.Chunk {
	row := chunkOf(c, c.Chunks.At(i))
	row.Zone, row.Straddles = v.Table.ZoneOf(c, i)
	row.MovingTo = f.moving[i]
	f.sizeInto(&row, i)
	return row
}

// inOrder is a page in the order of the key.
func (q chunkListQuery) inOrder(v View, c *topology.Collection, f *chunkFigures, in url.Values, out *api.ChunkList) error {
	from, to, err := chunkSpan(v, c, in)
	if err != nil {
		return err
	}
	for i, ch := range c.Chunks.Range(from, to) {
		if !q.takes(v, c, f, i, ch) {
			continue
		}
		if len(out.Items) == q.limit { // one more exists: it begins the next page
			out.Next = nextChunk(v, c, i, ch)
			break
		}
		row := q.row(v, c, f, i)
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
func (q chunkListQuery) sorted(v View, c *topology.Collection, f *chunkFigures, in url.Values, out *api.ChunkList) error {
	if in.Get("from") != "" || in.Get("key") != "" {
		return fault.New(fault.Invalid, "from= and key= are places in the order of the key; leave them out, or sort=.")
	}
	at := 0
	if key, given, err := cursorKey(in); err != nil {
		return err
	} else if given {
		place, ok := strings.CutPrefix(key, q.sort+" ")
		if at, err = strconv.Atoi(place); !ok || err != nil || at < 0 {
			return fault.New(fault.Invalid, "This cursor was not given out by this list in this order.")
		}
	}
	hits := positionsFound{to: c.Chunks.Len()}
	if q.shard != "" || q.zone != "" || q.jumbo != nil || q.oversized != nil {
		hits.some = true
		for i, ch := range c.Chunks.All() {
			if q.takes(v, c, f, i, ch) {
				hits.picked = append(hits.picked, i)
			}
		}
	}
	out.Measured, out.Of = f.measured(hits), hits.len()
	to := min(at+q.limit, hits.len())
	for _, i := range f.ranked(hits, q.sort, min(at, to), to) {
		out.Items = append(out.Items, q.row(v, c, f, i))
	}
	if to < hits.len() {
		out.Next = cursorOf(q.sort + " " + strconv.Itoa(to))
	}
	return nil
}

// nextChunk is where the next page begins. Where bounds are hidden that is a place
// in the list: when a chunk is split between two pages, one may come twice.
func nextChunk(v View, c *topology.Collection, i int, ch topology.Chunk) api.Cursor {
	if v.Hidden.bounds {
		return cursorOf(byPlace + strconv.Itoa(i))
	}
	return api.Cursor(chunkRef(c, ch.Min))
}

// byPlace begins a cursor that is a place in the list of chunks.
const byPlace = "place "

// listPlace reads a cursor of nextChunk where bounds are hidden.
func listPlace(q url.Values) (int, error) {
	key, given, err := cursorKey(q)
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
		Ref: chunkRef(c, ch.Min), Min: keyOf(c.Key, ch.Min), Max: keyOf(c.Key, ch.Max), Shard: ch.Shard,
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
		if err := mayNameKeys(v, "hidden.key"); err != nil {
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
		k, err := boundKey(c.Key, text)
		if err != nil {
			return 0, 0, err
		}
		from, _ = c.Chunks.Find(k)
	}
	if v.Hidden.bounds {
		from, err := listPlace(q)
		return min(from, to), to, err
	}
	if ref := q.Get("cursor"); ref != "" { // a later page of a list that began at from=
		k, err := parseChunkRef(c, ref)
		if err != nil {
			return 0, 0, err
		}
		from, _ = c.Chunks.Find(k)
	}
	return max(from, 0), to, nil
}
