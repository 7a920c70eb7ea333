package keys

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// Query is a kind of query that programs ask.
type Query struct {
	Name   string
	Equal  []string // fields that it compares with one value each
	Weight float64  // how often it is asked, compared with the others; 0 when not known
	Note   string
}

// Routed is where a query goes.
type Routed struct {
	Query
	Fields int     // fields of the key, from its first on, that the query gives
	Shards float64 // that one such query reaches on average: 1 for one, all shards for a broadcast
}

// Reach is how many shards a query reaches, in words.
type Reach string

// The three ways of a query.
const (
	One  Reach = "one shard"
	Some Reach = "some shards"
	All  Reach = "all shards"
)

// Reach says how many shards the query reaches.
func (r Routed) Reach(key shardkey.Pattern) Reach {
	switch r.Fields {
	case 0:
		return All
	case key.Len():
		return One
	}
	return Some
}

// route works out where each query goes. With the first fields of the key it goes to the shards that have them,
// averaged over the rows: what many rows share is asked for most.
func route(s *Sample, c *Cluster, key shardkey.Pattern, sorted *sorter) []Routed {
	average := map[int]float64{0: float64(c.Shards), key.Len(): 1}
	out := make([]Routed, len(c.Queries))
	for i, q := range c.Queries {
		n := 0
		for _, f := range key.Fields() {
			if !slices.Contains(q.Equal, f.Name) {
				break
			}
			n++
		}
		if _, known := average[n]; !known {
			average[n] = shardsOfPrefix(s, c, n, sorted)
		}
		out[i] = Routed{q, n, average[n]}
	}
	return out
}

// shardsOfPrefix is on how many shards the rows are that share the first fields of the key with a row.
func shardsOfPrefix(s *Sample, c *Cluster, fields int, sorted *sorter) float64 {
	if s.Len() == 0 {
		return 1
	}
	// Rows that share the first fields are neighbours, and so are their pieces.
	pieces := sorted.pieces(s.Len())
	total, piece := 0.0, 0
	first, firstPiece, lastPiece := 0, 0, 0
	var last []byte
	end := func(at int) { total += float64(at-first) * float64(shardsOfPieces(firstPiece, lastPiece, c.Shards)) }
	for at, p := range sorted.order {
		for piece+1 < len(pieces) && at >= pieces[piece+1] {
			piece++
		}
		if same := sorted.prefix(p.row, fields); at == 0 || string(same) != string(last) {
			if at > 0 {
				end(at)
			}
			first, firstPiece, last = at, piece, same
		}
		lastPiece = piece
	}
	end(len(sorted.order))
	return total / float64(len(sorted.order))
}

// UniqueIndex is a unique index that the collection has or needs.
type UniqueIndex struct{ Fields []string }

// Carried is whether a key lets a unique index exist.
type Carried struct {
	UniqueIndex
	Fits bool
}

// carried tells of each unique index whether the key allows it: the names of the key's fields must be the first of
// the index. Hashed or not does not matter: rows with equal values have equal hashes, so they are on one shard.
func carried(key shardkey.Pattern, unique []UniqueIndex) []Carried {
	out := make([]Carried, len(unique))
	for i, u := range unique {
		fits := key.Len() <= len(u.Fields)
		for j, f := range key.Fields() {
			fits = fits && u.Fields[j] == f.Name
		}
		out[i] = Carried{u, fits}
	}
	return out
}

// How a key is reached.
const (
	Stays      = "it is the key of today"
	Refines    = "refine"
	Reshards   = "reshard"
	Shards     = "shard the collection"
	Impossible = "not possible on this release"
)

// Cost is what it takes to get to a key.
type Cost struct {
	How      string        // one of the ways above
	Bytes    int64         // that are copied
	Duration time.Duration // of the copying, at the rate of the cluster
	Blockers []UniqueIndex // unique indexes that the key rules out
}

func costOf(s *Sample, c *Cluster, key shardkey.Pattern, unique []Carried) Cost {
	var out Cost
	for _, u := range unique {
		if !u.Fits {
			out.Blockers = append(out.Blockers, u.UniqueIndex)
		}
	}
	switch {
	case c.Today.Len() == 0:
		out.How = Shards
		out.Bytes = s.Bytes() - s.Bytes()/int64(c.Shards) // what does not stay on the primary shard
	case key.Equal(c.Today):
		out.How = Stays
	case extends(c.Today, key) && c.CanRefine:
		out.How = Refines
	case c.CanReshard:
		out.How, out.Bytes = Reshards, s.Bytes()
	default:
		out.How = Impossible
	}
	out.Duration = time.Duration(float64(out.Bytes) / float64(c.BytesPerSecond) * float64(time.Second))
	return out
}

func extends(today, key shardkey.Pattern) bool {
	have, want := today.Fields(), key.Fields()
	return len(want) > len(have) && slices.Equal(want[:len(have)], have)
}

// missingKey is the encoded key of a row that has none of the fields.
func missingKey(p shardkey.Pattern) string {
	empty, err := bson.Marshal(bson.D{})
	if err != nil {
		return ""
	}
	key, err := p.Extract(empty)
	if err != nil {
		return ""
	}
	return key.Encoded()
}
