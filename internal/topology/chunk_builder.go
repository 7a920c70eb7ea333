package topology

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// ChunkRow is a chunk as a full read gives it. Its bytes are valid until the next row:
// a full read of a million chunks makes no garbage of their keys.
type ChunkRow struct {
	Min, Max Bound // [Min, Max)
	Shard    string
	Version  Version
	Since    bson.Timestamp
	Jumbo    bool
}

// Chunk is the row as a chunk that may be kept.
func (r *ChunkRow) Chunk() Chunk {
	return Chunk{Min: r.Min.key(), Max: r.Max.key(), Shard: r.Shard, Version: r.Version, Since: r.Since, Jumbo: r.Jumbo}
}

// Bound is a bound of a ChunkRow: the two parts of its key.
type Bound struct{ Encoded, Bits []byte }

func (b Bound) key() shardkey.Key { return shardkey.FromParts(string(b.Encoded), string(b.Bits)) }

// set copies o.
func (b *Bound) set(o Bound) {
	b.Encoded = append(b.Encoded[:0], o.Encoded...)
	b.Bits = append(b.Bits[:0], o.Bits...)
}

// ChunkBuilder makes a map from all chunks of a collection, in key order, while they are
// read, so that only the map itself takes memory.
//
// When the collection changes meanwhile, some rows are of before the change and some of
// after it, and they leave a gap or overlap. A gap becomes a placeholder, a row that
// overlaps is put aside, and what changed since the read began fills both: Finish.
type ChunkBuilder struct {
	m      *ChunkMap
	f      *filler
	end    Bound   // where the next chunk must begin
	gaps   int     // placeholders
	beside []Chunk // rows that overlap an earlier one
}

// NewChunkBuilder begins a map of a collection with this shard key.
func NewChunkBuilder(p shardkey.Pattern) *ChunkBuilder {
	first := p.Min()
	return &ChunkBuilder{
		m: &ChunkMap{pattern: p, max: p.Max()}, f: newFiller(bucketTarget),
		end: Bound{[]byte(first.Encoded()), []byte(first.Bits())},
	}
}

// Add takes the next row over. The error is ErrTorn for what cannot be a row of a table.
func (b *ChunkBuilder) Add(row *ChunkRow) error {
	if bytes.Compare(row.Min.Encoded, row.Max.Encoded) >= 0 {
		return torn("a chunk of version %s ends before it begins", row.Version)
	}
	switch d := bytes.Compare(row.Min.Encoded, b.end.Encoded); {
	case d < 0:
		if len(b.beside) == maxEntangled {
			return torn("rows overlap others in too many places")
		}
		b.beside = append(b.beside, row.Chunk())
		return nil
	case d > 0:
		if err := b.placeholder(row.Shard); err != nil {
			return err
		}
	}
	b.f.add(row.Min, b.m.count(row.Shard, row.Version, row.Jumbo), row.Version, row.Since, row.Jumbo)
	b.end.set(row.Max)
	return nil
}

// placeholder stands for the keys from the end of the last row on. It has no version,
// which no chunk lacks.
func (b *ChunkBuilder) placeholder(shard string) error {
	if b.gaps == maxEntangled {
		return torn("chunks are missing in too many places")
	}
	b.gaps++
	b.f.add(b.end, b.m.count(shard, Version{}, false), Version{}, bson.Timestamp{}, false)
	return nil
}

// bytesPerChunk is about what a chunk takes so far, its key and the read included.
func (b *ChunkBuilder) bytesPerChunk() int64 {
	if b.f.total == 0 {
		return chunkBytes
	}
	const columns = 18 // shard, version, since
	return max(chunkBytes, 2*(columns+b.f.keyBytes/int64(b.f.total)))
}

// Finish gives the map, with the chunks that changed since the read began in the place
// of what was read of them. The error is ErrTorn when that does not make the map whole.
func (b *ChunkBuilder) Finish(changed []Chunk) (*ChunkMap, error) {
	if b.f.total == 0 {
		return nil, torn("there are no chunks")
	}
	if !bytes.Equal(b.end.Encoded, []byte(b.m.max.Encoded())) {
		if err := b.placeholder(b.m.names[0]); err != nil {
			return nil, err
		}
	}
	b.f.seal()
	b.m.adopt(b.f.done)
	m, _, err := b.m.Apply(changed)
	if err != nil {
		return nil, err
	}
	b.m = m
	if b.gaps > 0 && m.hasPlaceholder() {
		return nil, torn("no chunk covers some keys")
	}
	for _, c := range b.beside {
		from, to := m.Overlap(shardkey.Range{Min: c.Min, Max: c.Max})
		for _, o := range m.Range(from, to) {
			if !c.Version.Less(o.Version) && !sameRow(c, o) {
				return nil, torn("the chunk of version %s overlaps the one before it", c.Version)
			}
		}
	}
	return m, nil
}

func (m *ChunkMap) hasPlaceholder() bool {
	for _, b := range m.buckets {
		for _, v := range b.versions {
			if v.IsZero() {
				return true
			}
		}
	}
	return false
}
