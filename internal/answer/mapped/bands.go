package mapped

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// MapBands remembers what the map's bands were made of last, for each time that writes are
// of, and gives each a version that grows when that changes. With it a band that did not
// change is told in a few steps, whatever its number of chunks. Safe for concurrent use.
type MapBands struct {
	mu    sync.Mutex
	last  uint64
	bands map[mapBandKey]*mapBand
	zones zoneSums
}

// MapView is a view with what the map remembers from one to the next.
type MapView struct {
	answer.View
	Bands *MapBands // nil: nothing is remembered
}

// mapBandKey is a collection with the time that its writes are of; 0 for all times that pages do not offer, so that
// requests cannot make it grow.
type mapBandKey struct {
	ns     topology.Namespace
	window time.Duration
}

func (v MapView) mapBandKey(ns topology.Namespace) mapBandKey {
	if over := v.WritesWindow(); slices.Contains(writes.WritesWindows(), over) {
		return mapBandKey{ns, over}
	}
	return mapBandKey{ns: ns}
}

// NewMapBands begins with a number that no process before has reached: a browser may still
// have versions of that one.
func NewMapBands(begin int64) *MapBands {
	return &MapBands{last: uint64(begin) << 10, bands: map[mapBandKey]*mapBand{}}
}

// bandState is all that the tiles of a band are made of.
type bandState struct {
	chunks   *topology.ChunkMap // a new one for every change, also of flags
	life     topology.Incarnation
	sizes    uint64 // bytes by shard
	measured uint64 // measurements of chunks
	heatTo   int64  // window of writes and its end
	zones    uint64
	moves    uint64
	names    uint64 // version of the projects' names, where the band has zones
}

// mapBand is one collection at one moment with what is known of its chunks.
type mapBand struct {
	state   bandState
	version string
	seq     uint64 // of the table
	once    sync.Once
	figures *bandFigures
	heat    *keyedHeat
}

// bandOf is the band of a collection. Bands of past times are not remembered: nothing is
// measured or counted of them, so they cost little.
func (v MapView) bandOf(c *topology.Collection) *mapBand {
	if v.Past != nil || v.Bands == nil {
		return &mapBand{version: v.contentVersion(c), heat: &keyedHeat{}}
	}
	return v.Bands.of(v, c)
}

// contentVersion is the same at all times at which the band was the same, so that playing
// back the past reads only what changed. A move, a split and a merge give the collection a
// higher version.
func (v MapView) contentVersion(c *topology.Collection) string {
	var zones zoneSums
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%v %v %d %d %v %d %d", c.Incarnation, c.Chunks.Highest(), c.Chunks.Len(), c.Chunks.Jumbo(),
		c.Chunks.CountByShard(), sizesSum(v.Table, c.NS), zones.of(v.Table, c.NS))
	if len(v.Table.ZonesOf(c.NS)) > 0 {
		_, _ = fmt.Fprintf(h, " %d", v.Dir.Seq())
	}
	return "c" + strconv.FormatUint(h.Sum64(), 36)
}

func (m *MapBands) of(v MapView, c *topology.Collection) *mapBand {
	m.mu.Lock()
	defer m.mu.Unlock()
	state := bandState{chunks: c.Chunks, life: c.Incarnation, sizes: sizesSum(v.Table, c.NS), moves: movesSum(v.Table, c.NS)}
	if v.Sizes != nil {
		state.measured = v.Sizes.Seq()
	}
	if v.WritesAt != nil {
		state.heatTo = v.WritesAt(c.NS)
	}
	if state.zones = m.zones.of(v.Table, c.NS); state.zones != 0 {
		state.names = v.Dir.Seq()
	}
	key := v.mapBandKey(c.NS)
	kept := m.bands[key]
	if kept != nil && kept.state == state {
		return kept
	}
	m.last++
	next := &mapBand{state: state, seq: v.Table.Seq, version: strconv.FormatUint(m.last, 36), heat: &keyedHeat{}}
	if kept != nil && kept.state.heatTo == state.heatTo && kept.state.life == state.life {
		next.heat = kept.heat
	}
	if kept == nil || kept.seq <= next.seq { // a request may have begun with an older table
		m.bands[key] = next
	}
	return next
}

// Drop forgets all bands. Versions go on.
func (m *MapBands) Drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.bands)
}

// forget drops collections that are gone.
func (m *MapBands) forget(t *topology.Table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.bands {
		if t.Collection(key.ns) == nil {
			delete(m.bands, key)
		}
	}
}

// sizesSum is the same for equal bytes by shard, in any order.
func sizesSum(t *topology.Table, ns topology.Namespace) (sum uint64) {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a, without an allocation: a map has thousands of parts
	for shard := range t.Sizes[ns].Shards {
		h := uint64(offset)
		for i := range len(shard) {
			h = (h ^ uint64(shard[i])) * prime
		}
		size := t.Sizes[ns].Shards[shard].Bytes
		if size.Known {
			h = (h ^ 1) * prime
		}
		for value := uint64(size.Value); value != 0; value >>= 8 {
			h = (h ^ value&0xff) * prime
		}
		sum += h
	}
	return sum
}

func movesSum(t *topology.Table, ns topology.Namespace) uint64 {
	h := fnv.New64a()
	for _, x := range t.MovingOf(ns) {
		_, _ = fmt.Fprintf(h, "%x %q %q %d;", x.Min, x.From, x.To, x.Since.UnixMilli())
	}
	return h.Sum64()
}

// zoneSums are sums of the zone ranges by collection, made anew when a table has other ranges
// or other shards.
type zoneSums struct {
	ranges []topology.ZoneRange
	shards []topology.Shard
	sums   map[topology.Namespace]uint64
}

// of is 0 for a collection without ranges.
func (z *zoneSums) of(t *topology.Table, ns topology.Namespace) uint64 {
	if z.sums == nil || !sameSlice(z.ranges, t.Zones) || !sameSlice(z.shards, t.Shards) {
		*z = zoneSums{ranges: t.Zones, shards: t.Shards, sums: map[topology.Namespace]uint64{}}
		carry := fnv.New64a()
		for _, s := range t.Shards {
			_, _ = fmt.Fprintf(carry, "%q %q;", s.Name, s.Zones)
		}
		for _, r := range t.Zones {
			h := fnv.New64a()
			_, _ = fmt.Fprintf(h, "%x %q %x %x", carry.Sum64(), r.Zone, r.RawMin, r.RawMax)
			z.sums[r.NS] = z.sums[r.NS]*31 + h.Sum64()
		}
	}
	return z.sums[ns]
}

// sameSlice tells one slice from its copy: those of a table are replaced, never written to.
func sameSlice[A any](a, b []A) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// MapState names what the tiles of a band are made of, now or at a past time as a request
// has it; "" if there is no such band, or if that time is too near to be settled.
func MapState(v MapView, ns topology.Namespace, at string) string {
	if at != "" {
		return pastState(v, at)
	}
	c := v.Table.Collection(ns)
	if c == nil {
		return ""
	}
	return v.bandOf(c).version
}

// MapStateOfAll is MapState of the list of all bands.
func MapStateOfAll(v MapView, at string) string {
	if at != "" {
		return pastState(v, at)
	}
	h := fnv.New64a()
	for _, c := range v.Table.Collections {
		_, _ = fmt.Fprintf(h, "%s ", v.bandOf(c).version)
	}
	return fmt.Sprintf("%x-%x-%x", v.Table.Seq, v.Dir.Seq(), h.Sum64())
}

// MapVersion is another text for everything that changes the picture of a map. Times of
// reads are left out.
func MapVersion(v MapView, m api.ClusterMap) string {
	h := fnv.New64a()
	for _, b := range m.Bands {
		_, _ = fmt.Fprintf(h, "%q %s %v;", b.NS, b.Version, b.Bytes.Value != nil)
	}
	_, _ = fmt.Fprintf(h, "%v %v %v %v", m.Shards, m.Moving, m.MovingMore != nil, v.Table.Stale(topology.PartRouting, v.Now))
	return strconv.FormatUint(h.Sum64(), 36)
}

func pastState(v MapView, at string) string {
	past, err := answer.ParsePastTime("at", at, v.Now)
	if err != nil || v.Now.Sub(past) <= answer.SettledAfter {
		return ""
	}
	return "at-" + strconv.FormatInt(past.UnixMilli(), 36) + "-" + strconv.FormatUint(v.Dir.Seq(), 36)
}
