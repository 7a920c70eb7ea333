package writes

import (
	"math"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// exactUpTo is how many chunks are placed by their hashes: beyond, nobody could see one.
const exactUpTo = 20_000

// NamedRuns is how many runs of a key space are drawn one by one, each with its bounds.
const NamedRuns = 120

// KeySpaceMap is the picture of a collection's key space.
type KeySpaceMap struct {
	NS     string
	Chunks int
	Scale  string        // what width means
	Runs   []KeySpaceRun // in key order
}

// KeySpace says where in the key space each shard has its chunks.
func KeySpace(v answer.View, c *topology.Collection) KeySpaceMap {
	at, scale := Positions(c)
	out := KeySpaceMap{NS: string(c.NS), Chunks: c.Chunks.Len(), Scale: scale, Runs: runsOf(c, at)}
	if len(out.Runs) > NamedRuns {
		return out
	}
	names := v.KeyProjects(c)
	for i := range out.Runs {
		run := &out.Runs[i]
		first, last := c.Chunks.At(run.First), c.Chunks.At(run.Last)
		run.Name, run.Min, run.Max = answer.ChunkKey(c.Key, first.Min), answer.BoundText(c.Key, first.Min), answer.BoundText(c.Key, last.Max)
		run.Of, run.Until = names.Of(first.Min, last.Max)
	}
	return out
}

// KeySpaceRun is a stretch of neighbouring chunks on one shard.
type KeySpaceRun struct {
	First, Last    int     // positions, inclusive
	From, To       float64 // place in the picture, 0..1
	Shard          string
	Of, Until      api.KeyProject // whose keys begin at Min and at Max
	Name, Min, Max string         // of its first chunk, and its bounds; only when there are few runs
}

// runsOf merges neighbours.
func runsOf(c *topology.Collection, at func(i int) float64) []KeySpaceRun {
	var out []KeySpaceRun
	for i := range c.Chunks.Len() {
		owner := c.Chunks.Owner(i)
		if n := len(out); n > 0 && out[n-1].Shard == owner {
			out[n-1].Last, out[n-1].To = i, at(i+1)
			continue
		}
		out = append(out, KeySpaceRun{First: i, Last: i, From: at(i), To: at(i + 1), Shard: owner})
	}
	return out
}

// Positions says where chunk i begins, 0..1, and what that means in words. A
// single hashed field has a true measure: the part of all hash values, which
// hold about equally many documents. Ranged keys have none, so there each
// chunk is equally wide.
func Positions(c *topology.Collection) (at func(i int) float64, caption string) {
	n := c.Chunks.Len()
	if c.Key.Len() != 1 || c.Key.Hashed() != 0 || n > exactUpTo {
		return func(i int) float64 { return float64(i) / float64(n) }, "all chunks are drawn equally wide: a ranged key has no natural scale"
	}
	starts := make([]float64, n+1)
	for i, ch := range c.Chunks.All() {
		starts[i] = hashPosition(c.Key, ch.Min)
	}
	starts[n] = 1
	return func(i int) float64 { return starts[i] }, "width: share of all hash values, so about the share of documents"
}

func hashPosition(p shardkey.Pattern, k shardkey.Key) float64 {
	v, err := p.Values(k)
	if err != nil || len(v) != 1 {
		return 0
	}
	h, ok := v[0].Int64OK()
	if !ok {
		return 0 // MinKey: the only bound that is no hash and begins a chunk
	}
	return (float64(h) - math.MinInt64) / math.Exp2(64)
}
