package data

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// chunkListQuery is what all lists of chunks for scripts can be asked for.
type chunkListQuery struct {
	chunkFilter
	limit  int
	cursor string // as it was sent: what is in it depends on the order
}

func (q *chunkListQuery) parameters() param.List {
	return param.List{
		param.Text(&q.Shard, "shard", "on this shard"),
		param.MaybeFlag(&q.Jumbo, "jumbo", "true or false"),
		param.Text(&q.Zone, "zone", "covered by this zone"),
		param.MaybeFlag(&q.Oversized, "oversized", "true or false: has more documents than its shard moves at once, as far as is known"),
		param.TypedCursor(&q.cursor), param.Limit(&q.limit),
	}
}

// ChunksQuery is a part of the chunks of one collection.
type ChunksQuery struct {
	chunkListQuery
	sort      string
	from, key string // Extended JSON: the bound to begin with; what one chunk holds
}

// Parameters are those of the address of the list.
func (q *ChunksQuery) Parameters() param.List {
	return append(q.parameters(),
		param.OneOf(&q.sort, "sort", "the largest or hottest first, absent in key order; measured chunks by what was measured, others by the "+
			"estimate of their shard", ByBytes, ByDocuments, ByHeat),
		param.Text(&q.from, "from", "begin with the chunk of this bound"),
		param.Text(&q.key, "key", "only the chunk that holds this key"))
}

// findNames refuses names that no shard and no zone has: an empty list would say that nothing is there.
func (q chunkListQuery) findNames(t *topology.Table) error {
	isNamed := func(s topology.Shard) bool { return s.Name == q.Shard }
	if q.Shard != "" && len(t.Shards) > 0 && !slices.ContainsFunc(t.Shards, isNamed) {
		return fault.New(fault.NotFound, "There is no shard %q.", sanitize.Truncate(q.Shard, 100))
	}
	if _, ok := t.ZoneShards()[q.Zone]; q.Zone != "" && !ok && !slices.ContainsFunc(t.Zones, func(z topology.ZoneRange) bool {
		return z.Zone == q.Zone
	}) {
		return fault.New(fault.NotFound, "There is no zone %q.", sanitize.Truncate(q.Zone, 100))
	}
	return nil
}

// Chunks lists a collection's chunks from a cursor on, in key order or by size or
// writes. In key order the cursor is the reference of the next chunk: when that was
// merged away meanwhile, the list goes on with the chunk that now holds its lower
// bound, so nothing is skipped. In another order it is a place in the list.
func Chunks(v answer.View, c *topology.Collection, q ChunksQuery) (api.ChunkList, error) {
	err := q.findNames(v.Table)
	if err != nil {
		return api.ChunkList{}, err
	}
	rows := NewChunkRows(v, c)
	out := api.ChunkList{Items: []api.Chunk{}, Order: cmp.Or(q.sort, "key")}
	if q.sort == ByKey {
		err = q.inKeyOrder(rows, &out)
	} else {
		err = q.sorted(rows, &out)
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting)
	return out, err
}

// inKeyOrder looks at no more chunks than the page needs.
func (q ChunksQuery) inKeyOrder(rows chunkRows, out *api.ChunkList) error {
	from, to, err := q.span(rows.v, rows.c)
	if err != nil {
		return err
	}
	for i, owner := range (positionsFound{from: from, to: to}).each(rows.c) {
		if !q.takes(rows, i, owner) {
			continue
		}
		if len(out.Items) == q.limit { // one more exists: it begins the next page
			out.Next = nextChunk(rows.v, rows.c, i)
			break
		}
		row := rows.Row(i)
		if row.Measured {
			out.Measured++
		}
		out.Items = append(out.Items, row)
	}
	out.Of = len(out.Items)
	return nil
}

// sorted is a page by size or writes. Its cursor is a place: when something is
// measured between two pages, a chunk may come twice or not at all.
func (q ChunksQuery) sorted(rows chunkRows, out *api.ChunkList) error {
	if q.from+q.key != "" {
		return fault.New(fault.Invalid, "from= and key= need the list in key order: leave out either them or sort=.")
	}
	at := 0
	if q.cursor != "" {
		key, err := param.CursorKey(q.cursor)
		if err != nil {
			return err
		}
		place, ok := strings.CutPrefix(key, q.sort+" ")
		if at, err = strconv.Atoi(place); !ok || err != nil || at < 0 {
			return fault.New(fault.Invalid, "This cursor is not from this list in this order.")
		}
	}
	hits, _ := q.find(rows, positionsFound{to: rows.c.Chunks.Len()})
	out.Measured, out.Of = rows.f.measured(hits), hits.len()
	to := min(at+q.limit, hits.len())
	for _, i := range rows.f.ranked(hits, q.sort, min(at, to), to) {
		out.Items = append(out.Items, rows.Row(i))
	}
	if to < hits.len() {
		out.Next = answer.CursorOf(q.sort + " " + strconv.Itoa(to))
	}
	return nil
}

// chunkRows makes the rows of one collection's chunks, for every list that there is
// of them.
type chunkRows struct {
	v     answer.View
	c     *topology.Collection
	f     *chunkFigures
	zones map[string][]string // shards by zone
	names answer.KeyProjects
}

// NewChunkRows makes rows of the chunks of a collection, one at a time: a page needs few of them.
func NewChunkRows(v answer.View, c *topology.Collection) chunkRows {
	return chunkRows{v: v, c: c, f: FiguresOf(v, c), zones: v.Table.ZoneShards(), names: v.KeyProjects(c)}
}

func (r chunkRows) Row(i int) api.Chunk {
	row := ChunkOf(r.c, r.c.Chunks.At(i), r.names)
	row.Number = i + 1
	row.Zone, row.Straddles = r.v.Table.ZoneOf(r.c, i)
	row.ZoneShown = r.v.ZoneName(row.Zone)
	row.Misplaced = row.Zone != "" && !slices.Contains(r.zones[row.Zone], row.Shard)
	row.MovingTo = r.f.moving[i]
	r.f.SizeInto(&row, i)
	return row
}

// ChunkOf is what the routing table says of a chunk.
func ChunkOf(c *topology.Collection, ch topology.Chunk, names answer.KeyProjects) api.Chunk {
	from, until := names.Of(ch.Min, ch.Max)
	return api.Chunk{
		Ref: answer.ChunkRef(c, ch.Min), Min: answer.KeyOf(c.Key, ch.Min), Max: answer.KeyOf(c.Key, ch.Max), Shard: ch.Shard,
		Version: api.Version{Major: ch.Version.Major, Minor: ch.Version.Minor}, Since: api.Instant(ch.Since), Jumbo: ch.Jumbo,
		Name: answer.ChunkKey(c.Key, ch.Min), From: answer.BoundText(c.Key, ch.Min), To: answer.BoundText(c.Key, ch.Max),
		KeyProject: from, Until: until,
	}
}

// nextChunk is where the next page begins. Where bounds are hidden that is a place
// in the list: when a chunk is split between two pages, one may come twice.
func nextChunk(v answer.View, c *topology.Collection, i int) api.Cursor {
	if v.Hidden.Bounds {
		return answer.CursorOf(answer.ByPlace + strconv.Itoa(i))
	}
	return api.Cursor(answer.PlaceRef(c, c.Chunks.At(i).Min) + cursorPlace + strconv.Itoa(i))
}

// cursorPlace is before the place in the list that a cursor falls back to.
const cursorPlace = "~"

// cursorFrom is where the page begins that a cursor names: at the chunk with its bound now. If its bound is
// too long to be in it, and no chunk begins there any more, it is the same place in the list.
func cursorFrom(c *topology.Collection, cursor string) (int, error) {
	ref, place, _ := strings.Cut(cursor, cursorPlace)
	i, k, err := c.ByRef(ref)
	if err == nil && i < 0 && !k.IsZero() {
		i, _ = c.Chunks.Find(k)
	}
	if err == nil && i < 0 {
		if i, err = strconv.Atoi(place); err != nil || i < 0 {
			return 0, answer.ChunkGone(c)
		}
	}
	return min(i, c.Chunks.Len()), err
}

// span is the positions [from, to) that cursor=, from= or key= leave.
func (q ChunksQuery) span(v answer.View, c *topology.Collection) (from, to int, err error) {
	to = c.Chunks.Len()
	if q.from+q.key != "" {
		if err := answer.MayNameKeys(v); err != nil {
			return 0, 0, err
		}
	}
	switch {
	case q.from != "" && q.key != "":
		return 0, 0, fault.New(fault.Invalid, "Give from= or key=, not both: from= starts a list, key= finds one chunk.")
	case q.key != "":
		k, err := answer.PlainKey(c.Key, q.key)
		if err != nil {
			return 0, 0, err
		}
		i, _ := c.Chunks.Find(k)
		return i, i + 1, nil
	case q.from != "":
		k, err := answer.BoundKey(c.Key, q.from)
		if err != nil {
			return 0, 0, err
		}
		from, _ = c.Chunks.Find(k)
	}
	if q.cursor == "" {
		return max(from, 0), to, nil
	}
	from, err = cursorPosition(v, c, q.cursor) // a later page of a list that may have begun at from=
	return from, to, err
}

// cursorPosition is the position in key order at which a page begins.
func cursorPosition(v answer.View, c *topology.Collection, cursor string) (int, error) {
	if v.Hidden.Bounds {
		key, err := param.CursorKey(cursor)
		if err != nil {
			return 0, err
		}
		from, err := answer.ListPlace(key)
		return min(from, c.Chunks.Len()), err
	}
	from, err := cursorFrom(c, cursor)
	return max(from, 0), err
}

// VersionOf is a chunk's version; nil if it is not known.
func VersionOf(v topology.Version) *api.Version {
	if v == (topology.Version{}) {
		return nil
	}
	return &api.Version{Major: v.Major, Minor: v.Minor}
}
