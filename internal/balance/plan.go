package balance

import (
	"slices"
	"time"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Situation is the input of the rules.
type Situation struct {
	Table *topology.Table
	// Clock is the wall clock of the config server's primary, in its own time zone. Zero
	// means unknown, which is usual because mongos shows neither; then an active window
	// results in "unknown".
	Clock time.Time
}

// Plan has the state of one collection at the start of a round and the moves that the
// balancer would make. Immutable; safe for concurrent use.
type Plan struct {
	s       Situation
	c       *topology.Collection
	release Release

	zones   []topology.ZoneRange // of the collection, in key order
	pieces  map[string]map[string]*zoneChunks
	counts  map[string]int // pieces by shard
	total   int
	sizes   map[string]int64 // bytes by shard; nil when some are not known
	missing string           // a shard whose size is not known

	running []Migration
	busy    map[string]Migration // by shard
	moves   []Move
	splits  int               // chunks that a zone boundary splits
	stuck   map[string]string // zone → its fullest shard, all of whose chunks are jumbo
}

// zoneChunks counts the chunks of one zone on one shard.
type zoneChunks struct {
	count int
	first piece // the lowest movable one
	some  bool  // first is set
}

// piece is a chunk, or a part of one after the balancer has split it at zone
// boundaries, which every round does first.
type piece struct {
	chunk    int // position in the chunk map
	min, max shardkey.Key
}

// Move is a migration that the balancer would start.
type Move struct {
	Chunk    int // position of the chunk (before it is cut at zone edges)
	Min, Max shardkey.Key
	From, To string
	Reason   Reason
}

// Reason is why a chunk moves.
type Reason string

// The reasons, most urgent first.
const (
	Draining  Reason = "draining"
	Zone      Reason = "zone"
	Imbalance Reason = "imbalance"
)

// Label is the reason as the end of a sentence.
func (r Reason) Label() string {
	switch r {
	case Draining:
		return "its shard is being drained"
	case Zone:
		return "its shard is not in its zone"
	}
	return "its shard has too much of the collection"
}

// PlanOf plans a round for one sharded collection in one pass over its chunks.
func PlanOf(s Situation, c *topology.Collection) *Plan {
	p := &Plan{
		s: s, c: c, release: ReleaseOf(s.Table.ServerInfo.Version), zones: s.Table.ZonesOf(c.NS),
		pieces: map[string]map[string]*zoneChunks{}, counts: map[string]int{}, busy: map[string]Migration{}, stuck: map[string]string{},
	}
	p.countPieces()
	p.readSizes()
	p.running = Running(s.Table)
	for _, m := range p.running {
		p.busy[m.From], p.busy[m.To] = m, m
	}
	if p.release.Known() {
		p.moves = p.round()
	}
	return p
}

// Moves lists the migrations that the next round would start in this collection by
// policy, most urgent first. Settings such as a stopped balancer or noBalance are not
// considered here but in Explain. Another collection may use a shard first, because a
// round visits collections in random order. Empty when nothing is due or when the
// required sizes are unknown (see Explain).
func (p *Plan) Moves() []Move { return p.moves }

// Measured reports whether everything is known that the rules of the release compare:
// the numbers of chunks, or since 6.0.3 the sizes on all shards.
func (p *Plan) Measured() bool { return p.release.Known() && (!p.release.ByData() || p.missing == "") }

// Splits is how many chunks the round first splits at zone boundaries.
func (p *Plan) Splits() int { return p.splits }

// Release is the server's release.
func (p *Plan) Release() Release { return p.release }

// countPieces counts the pieces by zone and shard and keeps the lowest of each.
func (p *Plan) countPieces() { p.splits = p.eachPiece(p.count) }

// eachPiece calls f for the pieces of all chunks, in key order, and returns how many chunks are cut.
func (p *Plan) eachPiece(f func(zone string, ch topology.Chunk, at piece)) (splits int) {
	z := 0
	for i, ch := range p.c.Chunks.All() {
		cut := false
		at := ch.Min
		for at.Compare(ch.Max) < 0 {
			for z < len(p.zones) && (p.zones[z].Min.IsZero() || p.zones[z].Max.Compare(at) <= 0) {
				z++
			}
			zone, end := "", ch.Max
			if z < len(p.zones) {
				if p.zones[z].Min.Compare(at) <= 0 {
					zone, end = p.zones[z].Zone, shardkey.Earlier(p.zones[z].Max, ch.Max)
				} else {
					end = shardkey.Earlier(p.zones[z].Min, ch.Max)
				}
			}
			cut = cut || end.Compare(ch.Max) < 0
			f(zone, ch, piece{i, at, end})
			at = end
		}
		if cut {
			splits++
		}
	}
	return splits
}

func (p *Plan) count(zone string, ch topology.Chunk, at piece) {
	shards := p.pieces[zone]
	if shards == nil {
		shards = map[string]*zoneChunks{}
		p.pieces[zone] = shards
	}
	t := shards[ch.Shard]
	if t == nil {
		t = &zoneChunks{}
		shards[ch.Shard] = t
	}
	t.count++
	p.counts[ch.Shard]++
	p.total++
	if !t.some && !ch.Jumbo {
		t.some, t.first = true, at
	}
}

// readSizes reads the bytes of data per shard, without orphans if their number is
// known, as in the server's rule.
func (p *Plan) readSizes() {
	known := p.s.Table.Sizes[p.c.NS]
	p.sizes = make(map[string]int64, len(p.s.Table.Shards))
	for _, s := range p.s.Table.Shards {
		size, ok := known.Shards[s.Name]
		switch {
		case ok && size.Bytes.Known:
			p.sizes[s.Name] = size.Bytes.Value
		case p.counts[s.Name] == 0 && !known.At.IsZero():
			p.sizes[s.Name] = 0 // a shard without chunks has no entry
		default:
			p.missing = s.Name
		}
	}
	if p.missing != "" {
		p.sizes = nil
	}
}

// chunkBytes is the chunk size that the data rule multiplies.
func (p *Plan) chunkBytes() int64 {
	if p.c.MaxChunkBytes > 0 {
		return p.c.MaxChunkBytes
	}
	return p.s.Table.Balancer.ChunkBytes
}

// mayHold reports whether a shard may hold chunks of a zone.
func mayHold(s topology.Shard, zone string) bool { return zone == "" || slices.Contains(s.Zones, zone) }
