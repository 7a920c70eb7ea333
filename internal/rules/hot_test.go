package rules

import (
	"testing"

	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// withHotChunk gives one chunk of y.changes a write rate, a share and an assessment of
// splitting it. The remaining writes are distributed over the shards, most of them to
// its own.
func withHotChunk(chunk int, perSecond, share float64, s heat.Splitting) change {
	return func(x *Situation) {
		c := x.Table.Collection("y.changes")
		ch := c.Chunks.At(chunk)
		total := perSecond / share
		w := Writes{
			NS:      "y.changes",
			Over:    Window,
			Seconds: 900,
			To:      now,
			Total:   heat.Rate{PerSecond: total, Rows: int64(total * 900), Exact: true, Share: 1},
		}
		rest := (total - perSecond) / 4
		for i, shard := range x.Table.Shards { // apart from the hot chunk, the first shard has the fewest writes and the owner the most
			own := rest * []float64{0.5, 1, 1}[i]
			if shard.Name == ch.Shard {
				own = perSecond + 2.5*rest
			}
			w.Shards = append(w.Shards, shardLine(shard.Name, own))
		}
		w.Chunks = []ChunkWrites{{Min: ch.Min, Split: s, Line: heat.Line{Chunk: chunk, Shard: ch.Shard, Top: oid(3), TopShare: 0.95, Projects: 1,
			Rate: heat.Rate{PerSecond: perSecond, Share: share, Rows: int64(perSecond * 900), Exact: true}}}}
		x.Writes = []Writes{w}
	}
}

func TestHotShardsChunksAndDocumentsAreFound(t *testing.T) {
	wide := withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc")
	divides := heat.Splitting{Can: true, Code: "divides", Share: 0.3, Document: oid(9)}
	document := heat.Splitting{Can: true, Code: "document", Share: 0.93, Document: oid(9)}
	single := heat.Splitting{Code: "single"}
	unknown := heat.Splitting{Can: true, Code: "unknown"}
	short := func(s *Situation) {
		for i := range s.Writes {
			s.Writes[i].Seconds = 60
		}
	}
	manyProjects := func(s *Situation) { s.Writes[0].Chunks[0].Line.TopShare = 0.3 }
	uncounted := func(s *Situation) { s.Counting, s.Writes = false, nil }
	runCases(t, []ruleCase{
		{
			name:    "a chunk that a split divides",
			rule:    HotChunk,
			changes: with(wide, withHotChunk(4, 300, 0.5, divides)),
			rank:    Warn,
			says:    "hotChunk.project",
			plan:    "split-hot",
		},
		{name: "moderate", rule: HotChunk, changes: with(wide, withHotChunk(4, 20, 0.5, divides)), rank: Info,
			says: "hotChunk.project", plan: "split-hot"},
		{name: "of writers that are not known", rule: HotChunk, changes: with(wide, withHotChunk(4, 300, 0.5, unknown)),
			rank: Warn, says: "hotChunk.project"},
		{name: "of several projects", rule: HotChunk, changes: with(wide, withHotChunk(4, 300, 0.5, divides), manyProjects),
			rank: Warn, says: "hotChunk", plan: "split-hot"},
		{name: "of several projects", rule: HotShard, changes: with(wide, withHotChunk(4, 300, 0.9, divides), manyProjects),
			rank: Warn, says: "hotShard", plan: "split-hot"},
		{name: "a fifth of the writes", rule: HotChunk, changes: with(wide, withHotChunk(4, 300, 0.2, divides))},
		{name: "one of three chunks", rule: HotChunk, changes: with(withHotChunk(1, 300, 0.5, divides))},
		{name: "few writes", rule: HotChunk, changes: with(wide, withHotChunk(4, 2, 0.9, divides))},
		{name: "of one document", rule: HotChunk, changes: with(wide, withHotChunk(4, 300, 0.5, document))},
		{name: "counted for a minute", rule: HotChunk, changes: with(wide, withHotChunk(4, 300, 0.5, divides), short),
			unsure: true, says: "tooShort"},
		{name: "writes are not counted", rule: HotChunk, changes: with(wide, uncounted), unsure: true, says: "notCounting"},
		{name: "in the past", rule: HotChunk, changes: with(wide, func(s *Situation) { s.Past = true }), unsure: true, says: "notKept"},

		{
			name:    "one document",
			rule:    HotDocument,
			changes: with(wide, withHotChunk(4, 300, 0.5, document)),
			rank:    Warn,
			says:    "hotDocument.of",
			plan:    "move",
		},
		{
			name:    "one document of three chunks",
			rule:    HotDocument,
			changes: with(withHotChunk(1, 300, 0.6, document)),
			rank:    Warn,
			says:    "hotDocument.of",
			plan:    "move",
		},
		{name: "one document is everything", rule: HotDocument, changes: with(wide, withHotChunk(4, 300, 1, document)),
			rank: Warn, says: "hotDocument.of"},
		{
			name:    "one value",
			rule:    HotDocument,
			changes: with(wide, withHotChunk(4, 300, 0.5, single)),
			rank:    Warn,
			says:    "hotDocument.single",
			plan:    "move",
		},
		{
			name:    "one project, the key has no more",
			rule:    HotDocument,
			changes: with(wide, withHotChunk(4, 50, 0.5, heat.Splitting{Can: true, Code: "project", Share: 0.9})),
			rank:    Info,
			says:    "hotDocument.project",
			plan:    "move",
		},
		{name: "a split divides it", rule: HotDocument, changes: with(wide, withHotChunk(4, 300, 0.5, divides))},
		{
			name:    "migrations blocked",
			rule:    HotDocument,
			changes: with(wide, withHotChunk(4, 300, 0.5, document), inCollection("y.changes", blocked)),
			rank:    Warn,
			says:    "hotDocument.of",
		},
		{name: "writes are not counted", rule: HotDocument, changes: with(wide, uncounted), unsure: true, says: "notCounting"},

		{
			name:    "a shard with a chunk to split",
			rule:    HotShard,
			changes: with(wide, withHotChunk(4, 300, 0.7, divides)),
			rank:    Info,
			says:    "hotShard.project",
			plan:    "split-hot",
		},
		{
			name:    "almost all of it",
			rule:    HotShard,
			changes: with(wide, withHotChunk(4, 300, 0.95, divides)),
			rank:    Warn,
			says:    "hotShard.project",
			plan:    "split-hot",
		},
		{name: "evenly", rule: HotShard, changes: with(wide)},
		{name: "one shard can take anything", rule: HotShard,
			changes: with(wide, withHotChunk(4, 300, 0.95, divides), drainShard("a"), drainShard("c"))},
		{name: "a shard whose chunks are not counted", rule: HotShard, changes: with(func(s *Situation) {
			s.Writes[0].Shards = []heat.Line{shardLine("a", 90), shardLine("b", 5), shardLine("c", 5)}
		}), rank: Info, says: "hotShard"},
		{name: "counted for a minute", rule: HotShard, changes: with(short), unsure: true, says: "tooShort"},
		{
			name:    "one collection cannot be counted",
			rule:    HotShard,
			changes: with(func(s *Situation) { s.Writes = append(s.Writes, Writes{NS: "y.snapshots", Failed: true}) }),
			unsure:  true,
			says:    "countedPart",
		},
		{name: "writes are not counted", rule: HotShard, changes: with(uncounted), unsure: true, says: "notCounting"},
	})
}

func TestHotChunkIsNotOfferedToAForbiddenShard(t *testing.T) {
	wide := withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc")
	document := heat.Splitting{Can: true, Code: "document", Share: 0.93, Document: oid(9)}
	for name, c := range map[string]struct {
		change change
		to     string
	}{
		"the calmest, by name": {func(*Situation) {}, "a"},
		"not one that drains":  {drainShard("a"), "c"},
		"not outside its zone": {func(s *Situation) {
			c := s.Table.Collection("y.changes")
			lo, hi := c.Chunks.At(4).Min, c.Chunks.At(4).Max
			s.Table.Zones = append(s.Table.Zones, topology.ZoneRange{NS: "y.changes", Zone: "eu", Min: lo, Max: hi})
			assignZone("eu", "bc")(s)
		}, "c"},
	} {
		items, unsure, _ := evaluateRule(healthy(wide, withHotChunk(4, 300, 0.5, document), c.change), HotDocument)
		if len(items) != 1 || len(items[0].Remedy.Plans) != 1 || items[0].Remedy.Plans[0].Args["to"] != c.to {
			t.Errorf("%s: %+v, unsure %v", name, items, unsure)
		}
	}
}

// Writes that were counted under older bounds do not make a chunk hot.
func TestChunkThatNoLongerExistsIsNotHot(t *testing.T) {
	s := healthy(withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc"), withHotChunk(4, 300, 0.5, heat.Splitting{Code: "single"}))
	addCollection(&s, "y.changes", "{doc_id: hashed}", "ab")
	if items, _, _ := evaluateRule(s, HotDocument); len(items) > 0 {
		t.Errorf("got %+v, want len 0", items)
	}
}
