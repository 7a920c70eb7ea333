package mapped

import (
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Bounds of the map as a page draws it, so that a page is as small for a million chunks as
// for a thousand.
const (
	MapCells   = 100  // of a band
	MapRows    = 40   // bands of the map's own page
	mapPaths   = 1000 // shards that all bands draw together
	MapBrief   = 6    // bands of the overview
	mapPieces  = 480  // of a band: cells times shards
	leastCells = 20
	mapNamed   = 5  // pins, moves and shards of a band that are told by name
	mapTenths  = 10 // parts of a band that lead closer
	mapBracket = 60 // zones drawn on a band
)

// MapPicture is the map as a page draws it.
type MapPicture struct {
	Map      api.ClusterMap
	Query    MapQuery
	Bands    []MapStrip
	Left     int             // collections that are not drawn
	State    api.State       // instead of bands
	Notes    []api.State     // beside them
	Headline message.Message // the state of the cluster in one sentence
	Past     bool
	Window   time.Duration // that writes are of
}

// MapStrip is one band with its cells.
type MapStrip struct {
	api.MapBand
	From, To  int // the chunks that are drawn
	Cells     []MapCell
	Zones     []api.MapZone
	MoreZones int
	Pins      []api.MapZone // zones that pin a project, the first few
	MorePins  int
	Moves     []api.MapMove // the first few
	MoreMoves int
	Outside   int      // chunks of the whole band that are outside their zone
	Hottest   *float64 // writes per second of its hottest chunk
	Closer    []string // addresses of its tenths, or pages of its chunks; none if bounds are hidden
}

// MapCell is a stretch of a band.
type MapCell struct {
	From, To int
	Shards   []ShardChunks // in the order of the shard list
	Bytes    *int64        // mean of its chunks
	Peak     *float64      // writes of its hottest chunk
	Age      *int64
	Flags    int
}

// ShardChunks is how many chunks a shard has.
type ShardChunks struct {
	Shard  string
	Chunks int
}

// PictureMap draws a view of the map with at most so many bands; of very many shards with fewer, so that the page stays
// small.
func PictureMap(v MapView, q MapQuery, rows int) (MapPicture, error) {
	out := MapPicture{Query: q, Past: v.Past != nil, Window: v.WritesWindow()}
	rows = min(rows, max(mapPaths/max(len(v.Table.Shards), 1), 1))
	if !v.Table.Loaded {
		out.State = answer.PartState(v.View, topology.PartRouting)
		out.Headline = message.New("map.loading", "The map appears after the first read of the cluster.")
		return out, nil
	}
	out.Map = ClusterMap(v)
	out.Headline, out.Notes = mapHeadline(v, out.Map), mapNotes(v, q, out.Map)
	bands := out.Map.Bands
	if q.NS != "" {
		c := v.Table.Collection(q.NS)
		if c == nil || c.Unsplittable {
			if _, err := data.ShardedCollection(v.Table, q.NS); err != nil {
				return out, err
			}
			return out, fault.New(fault.NotFound, "%s is not sharded, so it has no map: all of it is on one shard.", q.NS)
		}
		bands = []api.MapBand{mapBandOf(v, q.NS)}
	}
	if len(bands) == 0 && !mapUnread(v) { // else a note says why
		out.State = api.State{Code: "empty", Title: "There are no collections yet",
			Detail: "Each collection becomes a band of the map as soon as it has data."}
		if out.Map.Hidden > 0 {
			out.State.Detail = "Only internal collections of the server exist."
		}
	}
	for i, b := range bands {
		if i == rows {
			out.Left = len(bands) - i + out.Map.More
			break
		}
		out.Bands = append(out.Bands, stripOf(v, q, b, out.Map.Moving))
	}
	return out, nil
}

func stripOf(v MapView, q MapQuery, b api.MapBand, moving []api.MapMove) MapStrip {
	out := MapStrip{MapBand: b}
	c := v.Table.Collection(topology.Namespace(b.NS))
	if !b.Sharded {
		return out
	}
	f := v.bandOf(c).of(v, c)
	out.From, out.To = q.positions(b.Total)
	out.Cells = cellsOf(v, c, f, out)
	for _, h := range f.hot {
		if rate := h.rate; out.Hottest == nil || rate > *out.Hottest {
			out.Hottest = &rate
		}
	}
	if out.Hottest == nil && f.counted && !f.atLeast {
		out.Hottest = new(float64)
	}
	out.Outside = f.countOutside(c)
	out.Zones, out.MoreZones = f.zonesIn(v, c, out.From, out.To, mapBracket)
	for _, z := range out.Zones {
		switch {
		case z.Project == "":
		case len(out.Pins) < mapNamed:
			out.Pins = append(out.Pins, z)
		default:
			out.MorePins++
		}
	}
	for _, m := range moving {
		switch {
		case m.NS != b.NS || m.Arrived || m.Position >= out.To || m.Position+m.Chunks <= out.From:
		case len(out.Moves) < mapNamed:
			out.Moves = append(out.Moves, m)
		default:
			out.MoreMoves++
		}
	}
	if q.NS != "" {
		out.Closer = closer(v, c, q, out)
	}
	return out
}

// cellsOf cuts what is drawn of a band in cells of equally many chunks, or single chunks.
func cellsOf(v MapView, c *topology.Collection, f *bandFigures, s MapStrip) []MapCell {
	n := s.To - s.From
	cells := min(n, MapCells)
	if n > cells { // a cell can have a part of each shard
		cells = max(min(cells, mapPieces/max(len(s.Shards), 1)), leastCells)
	}
	out := make([]MapCell, cells)
	names := c.Chunks.ShardNames()
	order := shardOrder(v.Table, names)
	at := answer.FreshnessOf(v.View, topology.PartRouting).AsOf
	var sum topology.Tally
	for i := range out {
		from, to := s.From+n*i/cells, s.From+n*(i+1)/cells
		c.Chunks.Tally(&sum, from, to)
		out[i] = MapCell{From: from, To: to, Bytes: f.bytes(&sum, from, to), Age: ageOf(sum.Newest, at), Flags: f.flags(c, &sum, from, to)}
		_, out[i].Peak = f.writes(from, to)
		for _, shard := range order {
			if k := sum.ByShard[shard]; k > 0 {
				out[i].Shards = append(out[i].Shards, ShardChunks{Shard: names[shard], Chunks: k})
			}
		}
	}
	return out
}

// shardOrder are the indexes of a collection's shards in the order of the shard list; those
// that the list lacks come last.
func shardOrder(t *topology.Table, names []string) (out []int) {
	index := map[string]int{}
	for i, name := range names {
		index[name] = i
	}
	for _, s := range t.Shards {
		if i, ok := index[s.Name]; ok {
			out = append(out, i)
			delete(index, s.Name)
		}
	}
	for i, name := range names {
		if _, left := index[name]; left {
			out = append(out, i)
		}
	}
	return out
}

// closer are the addresses behind the picture of one collection: its tenths while it has
// more cells than chunks can be seen, then the chunks.
func closer(v MapView, c *topology.Collection, q MapQuery, s MapStrip) (out []string) {
	n := s.To - s.From
	if n > MapCells {
		for i := range mapTenths {
			to := q
			to.From = float64(s.From+n*i/mapTenths) / float64(s.Total)
			to.To = float64(s.From+n*(i+1)/mapTenths) / float64(s.Total)
			out = append(out, to.URL())
		}
		return out
	}
	if answer.MayNameChunks(v.View) != nil {
		return nil
	}
	for _, cell := range s.Cells {
		out = append(out, answer.ChunkURL(c.NS, answer.ChunkRef(c, c.Chunks.At(cell.From).Min)))
	}
	return out
}
