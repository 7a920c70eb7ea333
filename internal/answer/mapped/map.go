// Package mapped answers with the map of all key spaces: bands of collections, and tiles of each.
package mapped

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// Bounds of the map as a whole.
const (
	MostBands = 200
	MostMoves = 200
)

// ClusterMap is where all collections are: a band for each.
func ClusterMap(v MapView) api.ClusterMap {
	out := api.ClusterMap{Shards: mapShards(v.Table), Bands: []api.MapBand{}, Incomplete: data.UnreadCollections(v.View),
		Freshness: answer.FreshnessOf(v.View, topology.PartRouting)}
	if v.Bands != nil && v.Past == nil {
		v.Bands.forget(v.Table)
	}
	names := bandNames(v)
	out.Hidden = len(v.CollectionsByName()) - len(names)
	out.More = max(len(names)-MostBands, 0)
	for _, ns := range names[:len(names)-out.More] {
		out.Bands = append(out.Bands, mapBandOf(v, ns))
	}
	out.Moving, out.MovingMore = mapMoves(v)
	out.Scale = mapScale(v, out)
	return out
}

// bandsKey is the key of the kept order of the map's bands.
type bandsKey struct{ internal bool }

// bandNames are the collections of the map in the order of their bands: sharded ones first, of both the largest. Read
// only.
func bandNames(v MapView) []topology.Namespace {
	return answer.OncePerTable(v.View, bandsKey{v.Internal}, func() []topology.Namespace {
		type band struct {
			ns      topology.Namespace
			sharded bool
			bytes   int64
			chunks  int
		}
		var all []band
		for _, ns := range v.CollectionsByName() {
			if answer.System(v.Table, ns) && !v.Internal {
				continue
			}
			bytes, _, _ := answer.SizeOf(v.Table, ns)
			b := band{ns: ns, bytes: answer.KnownOrNegative(answer.FigureOf(bytes))}
			if c := v.Table.Collection(ns); c != nil && !c.Unsplittable {
				b.chunks = c.Chunks.Len()
				b.sharded = b.chunks > 0
			}
			all = append(all, b)
		}
		slices.SortStableFunc(all, func(a, b band) int { // of equal ones the order of names stays
			if a.sharded != b.sharded {
				return cmp.Compare(b.chunks, a.chunks)
			}
			return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.chunks, a.chunks))
		})
		return answer.Map(all, func(b band) topology.Namespace { return b.ns })
	})
}

func mapShards(t *topology.Table) []api.MapShard {
	labels := answer.ShardLabels(t.Shards)
	out := make([]api.MapShard, len(t.Shards))
	for i, s := range t.Shards {
		out[i] = api.MapShard{Name: s.Name, Label: labels[i], Color: i%answer.PaletteSize + 1, Pattern: i / answer.PaletteSize}
	}
	return out
}

func mapBandOf(v MapView, ns topology.Namespace) api.MapBand {
	bytes, _, _ := answer.SizeOf(v.Table, ns)
	out := api.MapBand{NS: string(ns), Bytes: answer.FigureOf(bytes)}
	c := v.Table.Collection(ns)
	switch {
	case c == nil, c.Unsplittable:
		out.Unsharded = v.Table.Home(ns)
	case c.Chunks.Len() == 0: // between its making and the first read of its chunks
	default:
		band := v.bandOf(c)
		out.Sharded, out.Total, out.Jumbo, out.Version = true, c.Chunks.Len(), c.Chunks.Jumbo(), band.version
		out.Zoned, out.Shards = len(v.Table.ZonesOf(ns)) > 0, c.Chunks.CountByShard()
		out.Heat = band.of(v, c).counted
		return out
	}
	out.Version = "at-" + out.Unsharded
	return out
}

// mapMoves are the migrations under way. None are known of a past time.
func mapMoves(v MapView) (list []api.MapMove, more *int) {
	list = []api.MapMove{}
	if v.Past != nil || v.Table.Health[topology.PartMoves].At.IsZero() {
		return list, nil
	}
	left := 0
	for _, x := range v.Table.Moves.List {
		c := v.Table.Collection(x.NS)
		from, to := x.Positions(c)
		if from >= to || answer.System(v.Table, x.NS) && !v.Internal {
			continue
		}
		if len(list) == MostMoves {
			left++
			continue
		}
		list = append(list, api.MapMove{NS: string(x.NS), Position: from, Chunks: to - from, From: x.From, To: x.To,
			Since: x.Since.UTC(), Arrived: x.Arrived(v.Table)})
	}
	return list, &left
}

// mapScale is what the greatest and least of single chunks of all bands are.
func mapScale(v MapView, m api.ClusterMap) api.MapScale {
	out := api.MapScale{Heat: api.MapHeat{Window: v.WritesWindow().String()}}
	for _, b := range m.Bands {
		c := v.Table.Collection(topology.Namespace(b.NS))
		if !b.Sharded {
			continue
		}
		f := v.bandOf(c).of(v, c)
		var all topology.Tally
		c.Chunks.Tally(&all, 0, c.Chunks.Len())
		for shard, n := range all.ByShard {
			if n > 0 && f.share[shard] >= 0 {
				widen(&out.Bytes, float64(f.share[shard]))
			}
		}
		for _, m := range f.measured {
			widen(&out.Bytes, float64(m.bytes))
		}
		if f.counted {
			for _, h := range f.hot {
				widen(&out.Heat.MapSpan, significant(h.rate))
			}
			if !f.atLeast && len(f.hot) < c.Chunks.Len() {
				widen(&out.Heat.MapSpan, 0)
			}
		}
		for _, t := range []uint32{all.Newest, all.Oldest} {
			if age := ageOf(t, m.AsOf); age != nil {
				widen(&out.Age, float64(*age))
			}
		}
	}
	return out
}

func widen(s *api.MapSpan, value float64) {
	if s.Low == nil || value < *s.Low {
		s.Low = &value
	}
	if s.High == nil || value > *s.High {
		s.High = &value
	}
}

// projectAt is the project whose keys begin at a chunk's lower bound, with its name.
func (v MapView) projectAt(c *topology.Collection, ch topology.Chunk) (id, name string) {
	if v.Hidden.Bounds || v.Profile == nil {
		return "", ""
	}
	project, ok := heat.ProjectOfBound(v.Table, v.Profile, c, ch.Min)
	if !ok {
		return "", ""
	}
	return project.Hex(), v.ProjectName(c.NS.Database(), project)
}

// projectNameOf is projectName by the id as text.
func (v MapView) projectNameOf(db, hex string) string {
	id, err := bson.ObjectIDFromHex(hex)
	if err != nil {
		return ""
	}
	return v.ProjectName(db, id)
}
