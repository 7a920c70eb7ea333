package placement

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// SpreadOf tells where a project's rows are in every collection of the nearest
// layout, newest figures included. It reads nothing: one table answers.
func SpreadOf(t *topology.Table, p *profile.Profile, d Project) Spread {
	layout := p.Nearest(t, d.DB)
	s := Spread{Project: d, Layout: layout.Name}
	for _, c := range layout.Collections {
		if c.Scope == profile.ScopeCluster {
			continue // users, members, …: not a project's to place
		}
		out := spreadOf(t, c, d)
		if c.Name == p.Keys.Collection && len(out.Shards) == 1 {
			out.Shards[0].Documents = d.Documents
		}
		s.Collections = append(s.Collections, out)
	}
	return s
}

func spreadOf(t *topology.Table, c profile.Collection, d Project) CollectionSpread {
	ns := topology.Namespace(d.DB + "." + c.Name)
	out := CollectionSpread{NS: ns, Scope: c.Scope, What: c.What, Presence: presence(t, ns), Basis: BasisUnknown}
	coll, damage := t.Collection(ns), t.DamageOf(ns)
	switch {
	case coll == nil && damage != nil:
		out.Sharded, out.Key = !damage.Unsplittable, damage.Key.String()
		out.Pin.Why, out.Split.Why = chunksUnknown, chunksUnknown
	case coll == nil || coll.Unsplittable:
		out.unsharded(t, coll != nil)
	case coll.Key.LeadsWith(c.ProjectField), coll.Key.LeadsWithHash(c.ProjectField):
		out.Sharded, out.Key, out.Pattern = true, coll.Key.String(), coll.Key
		out.byPrefix(coll, d)
	default:
		out.Sharded, out.Key, out.Pattern = true, coll.Key.String(), coll.Key
		out.byOtherKey(coll, c)
	}
	return out
}

// chunksUnknown is why nothing can be done to a collection whose routing table is damaged or not loaded.
var chunksUnknown = message.New("spread.chunksUnknown", "Its chunks are not known.")

// presence: a sharded collection exists; others are known from listCollections.
func presence(t *topology.Table, ns topology.Namespace) Presence {
	switch {
	case t.Collection(ns) != nil, t.DamageOf(ns) != nil, slices.Contains(t.Unsharded, ns):
		return PresenceYes
	case t.Unsharded == nil:
		return PresenceUnknown
	}
	return PresenceNo
}

// unsharded places everything on the primary shard, or on the one shard of a
// tracked unsharded collection (MongoDB 8.0).
func (s *CollectionSpread) unsharded(t *topology.Table, tracked bool) {
	shard, basis := t.Home(s.NS), BasisPrimary
	s.Pin.Why = message.New("pin.unsharded", "It is not sharded and stays on the database's primary shard.")
	if tracked {
		basis = BasisTracked
		s.Pin.Why = message.New("pin.tracked", "It is not sharded: moveCollection brings all of it to another shard.")
	}
	s.Split.Why = message.New("split.unsharded", "It is not sharded.")
	if shard == "" || s.Presence == PresenceNo {
		return
	}
	s.Basis, s.Exact = basis, true
	s.Shards = []ShardPart{{Shard: shard, Share: 1, Bytes: unmeasured(), Documents: unmeasured()}}
}

// byPrefix: the shard key begins with the project, so the chunks that meet
// its range hold all its rows and nothing else does.
func (s *CollectionSpread) byPrefix(coll *topology.Collection, d Project) {
	r, err := coll.Key.PrefixRange(d.IDValue())
	if err != nil { // an id is always a legal key value
		return
	}
	from, to := coll.Chunks.Overlap(r)
	s.Basis, s.Exact = BasisKeyPrefix, true
	s.take(coll, from, to)
	s.Pin = Verdict{Can: true, Why: message.New("pin.keyPrefix",
		"A zone range over the project's part of the key keeps it on the zone's shards.")}
	if coll.Key.Hashed() == 0 {
		s.Pin.Why = message.New("pin.hash", "A zone range over the project's hash, the first field of the key, keeps it on the zone's shards.")
	}
	if _, ok := shardkey.NextValue(d.IDValue()); !ok && coll.Key.Hashed() != 0 {
		s.Pin = Verdict{Why: message.New("pin.highest", "Its id is the highest of its type, so no range ends just after it.")}
	}
	if coll.Key.Len() > 1 {
		s.Split = Verdict{Can: true, Why: message.New("split.insideProject",
			"Its rows differ in {field}, so chunks can be split inside the project.", message.Text("field", coll.Key.Fields()[1].Name))}
		return
	}
	s.Split.Why = message.New("split.singleValue",
		"All its rows have one shard-key value and fill a chunk of their own, which cannot be split.")
	if from < to {
		if c := coll.Chunks.At(from); !holdsOnly(coll.Key, c, r, d.IDValue()) {
			s.Split = Verdict{Can: true, Why: message.New("split.betweenProjects",
				"Its chunk also holds other projects and can be split between them; the project itself stays in one piece.")}
		}
	}
}

// holdsOnly tells whether a chunk has room for one project alone, by a key that has no other
// field. Between whole numbers as ids no other is expected.
func holdsOnly(key shardkey.Pattern, c topology.Chunk, project shardkey.Range, id bson.RawValue) bool {
	if key.Hashed() == 0 {
		return key.OneValue(shardkey.Range{Min: c.Min, Max: c.Max})
	}
	next, ok := shardkey.NextValue(id)
	if !ok || c.Min.Compare(project.Min) < 0 {
		return false
	}
	end, err := key.KeyOf(next)
	return err == nil && c.Max.Compare(end) <= 0
}

// byOtherKey: the shard key begins with something else than the project, such as the Yorkie
// document, so a project's rows may be on every shard that owns chunks.
func (s *CollectionSpread) byOtherKey(coll *topology.Collection, of profile.Collection) {
	s.Basis = BasisOtherKey
	s.ChunkCount = coll.Chunks.Len()
	for shard, n := range coll.Chunks.CountByShard() {
		s.add(shard, n, s.ChunkCount)
	}
	s.sort()
	s.Exact = len(s.Shards) == 1
	s.Pin.Why = message.New("pin.byDocument", "The key does not begin with the project, so no range holds only this project.")
	s.Split.Why = message.New("split.otherKey", "Its chunks are shared by several projects, and are split at values of {field}.",
		message.Text("field", coll.Key.Fields()[0].Name))
	if of.DocumentField != "" && (coll.Key.LeadsWith(of.DocumentField) || coll.Key.LeadsWithHash(of.DocumentField)) {
		s.Basis = BasisByDocument
		s.Split.Why = message.New("split.byDocument", "It is spread by document already; the rows of one document always stay together.")
	}
}

// take counts the chunks [from, to) by shard and keeps the first of them.
func (s *CollectionSpread) take(coll *topology.Collection, from, to int) {
	counts := map[string]int{}
	for i := from; i < to; i++ {
		if len(s.Chunks) < MaxChunksShown {
			s.Chunks = append(s.Chunks, coll.Chunks.At(i))
		}
		counts[coll.Chunks.Owner(i)]++
	}
	s.ChunkCount = to - from
	for shard, n := range counts {
		s.add(shard, n, s.ChunkCount)
	}
	s.sort()
}

func (s *CollectionSpread) add(shard string, chunks, of int) {
	if chunks == 0 {
		return
	}
	s.Shards = append(s.Shards, ShardPart{
		Shard: shard, Chunks: chunks, Share: float64(chunks) / float64(of), Bytes: unmeasured(), Documents: unmeasured(),
	})
}

func (s *CollectionSpread) sort() {
	slices.SortFunc(s.Shards, func(a, b ShardPart) int { return natural.Compare(a.Shard, b.Shard) })
}

// unmeasured is the figure of a project's part of a collection: no index leads
// to it, so only a survey or an estimate could tell.
func unmeasured() topology.Figure { return topology.Figure{Reason: "notSurveyed"} }

// ObjectIDValue is an id as a BSON value.
func ObjectIDValue(id bson.ObjectID) bson.RawValue {
	return bson.RawValue{Type: bson.TypeObjectID, Value: id[:]}
}
