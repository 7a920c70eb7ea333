package shares

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// collections are the parts of a shard: every collection that its totals count.
func (w *shardWhy) collections() whyParts {
	out := whyParts{noun: "collections"}
	if w.q.By == data.OfWrites {
		w.writtenCollections(&out)
		return out
	}
	all := w.shares()
	w.zoned = all.zoned
	listed := min(w.q.Limit, len(all.list))
	for _, s := range all.list[:listed] {
		out.add(w.sharePart(s, func() data.ChunkAmounts { return w.amounts(s.ns, s.c) }))
	}
	if rest := all.list[listed:]; len(rest) > 0 {
		others := whyPart{ShardWhyPart: api.ShardWhyPart{Kind: "others", Exact: true, Count: len(rest)}}
		for _, s := range rest {
			others.here, others.even = others.here+s.here, others.even+s.even
			others.Exact, others.AtLeast = others.Exact && s.exact, others.AtLeast || s.atLeast
		}
		others.Text = "other, " + nounCount(others.Count, out.noun)
		out.add(others)
	}
	if len(all.missing) > 0 {
		out.unknown = append(out.unknown, unknownPart(len(all.missing), "unknown: "+nounCount(len(all.missing), "collections")+
			" whose sizes are not known", slices.Clone(all.missing)))
	}
	return out
}

// collectionShare is what the shard has of a collection, and its even share.
type collectionShare struct {
	ns                    topology.Namespace
	c                     *topology.Collection // nil: it has no chunks
	here, even            float64
	exact, atLeast, zoned bool
}

// collectionShares are those of all collections that make a difference, the largest difference first.
type collectionShares struct {
	list    []collectionShare
	missing []string // whose sizes are not known
	zoned   bool     // some are in zones
}

// sharesKey is the key of what is answer.OncePerTable of the collections on a shard.
type sharesKey struct {
	shard, by string
	measured  uint64 // measurements of chunks
}

// shares are the collections of a measure that is a size. Read only.
func (w *shardWhy) shares() collectionShares {
	key := sharesKey{shard: w.q.Shard, by: w.q.By}
	if w.v.Sizes != nil {
		key.measured = w.v.Sizes.Seq()
	}
	return answer.OncePerTable(w.v, key, func() (out collectionShares) {
		one := func(ns topology.Namespace, c *topology.Collection, a data.ChunkAmounts) {
			if a.Reason != "" {
				out.missing = append(out.missing, string(ns))
			} else if s := w.shareOf(ns, c, a); s.here != 0 || s.even != 0 {
				out.list, out.zoned = append(out.list, s), out.zoned || s.zoned
			}
		}
		for _, c := range w.v.Table.Collections {
			if answer.Visible(c) {
				one(c.NS, c, w.amounts(c.NS, c))
			}
		}
		amounts := unshardedAmounts(w.v, w.q.By)
		for i, ns := range w.v.Table.Unsharded {
			if !topology.IsInternal(ns) {
				one(ns, nil, amounts[i])
			}
		}
		slices.SortStableFunc(out.list, func(a, b collectionShare) int {
			return cmp.Compare(math.Abs(b.here-b.even), math.Abs(a.here-a.even))
		})
		return out
	})
}

func nounCount(n int, noun string) string {
	return answer.Counted(n, strings.TrimSuffix(noun, "s"), noun)
}

// unknownPart is a part of which no amount is known; names are what it consists of.
func unknownPart(n int, text string, names []string) whyPart {
	natural.Sort(names)
	why := format.JoinWords(writes.First(names, 5))
	if more := len(names) - 5; more > 0 {
		why += " and " + format.Count(int64(more)) + " more"
	}
	return whyPart{ShardWhyPart: api.ShardWhyPart{Kind: "unknown", Text: text, Count: n, Reason: why}}
}

// writtenCollections are those whose new rows are counted. Changed rows are counted of few projects
// only, so they are in no sum.
func (w *shardWhy) writtenCollections(out *whyParts) {
	var waiting, uncounted []string
	lost := 0.0
	for _, how := range heat.Cover(w.v.Table, w.v.Profile) {
		c := w.v.Table.Collection(how.NS)
		if c == nil || how.Not != "" || how.Method != heat.NewRows {
			if how.Not != heat.Unsharded || how.Method == heat.NewRows {
				uncounted = append(uncounted, string(how.NS))
			}
			continue
		}
		a := data.WriteAmounts(w.v, w.h, c)
		if a.Reason != "" {
			waiting = append(waiting, string(how.NS))
			continue
		}
		w.covered(a)
		lost += max(a.Window.Total.PerSecond-a.Total(), 0)
		part := w.partOf(c, a)
		if part.here != 0 || part.even != 0 {
			out.add(part)
		}
	}
	if lost >= 0.001 {
		out.unknown = append(out.unknown, unknownPart(0, "unknown: "+format.PerSecond(lost)+
			" writes/s in the cluster of unknown chunks", nil))
	}
	if len(waiting) > 0 {
		out.unknown = append(out.unknown, unknownPart(len(waiting), "unknown: "+nounCount(len(waiting), "collections")+
			" not counted yet", waiting))
	}
	if len(uncounted) > 0 {
		out.unknown = append(out.unknown, unknownPart(len(uncounted), "unknown: "+nounCount(len(uncounted), "collections")+
			" whose writes are not counted", uncounted))
	}
}

// covered notes how much time was counted: the least of all collections.
func (w *shardWhy) covered(a data.ChunkAmounts) {
	if w.out.CoveredSeconds == 0 || a.Window.Seconds < w.out.CoveredSeconds {
		w.out.CoveredSeconds = a.Window.Seconds
	}
	if w.out.AsOf.IsZero() || a.Window.To.Before(w.out.AsOf) {
		w.out.AsOf = a.Window.To.UTC()
	}
}

// amounts are a collection's; reason says why not.
func (w *shardWhy) amounts(ns topology.Namespace, c *topology.Collection) data.ChunkAmounts {
	if w.q.By != data.OfWrites {
		return data.SizeAmounts(w.v, ns, c, w.q.By)
	}
	if how, ok := heat.CoverageOf(w.v.Table, w.v.Profile, ns); c == nil || !ok || how.Not != "" || how.Method != heat.NewRows {
		return data.ChunkAmounts{Reason: "notCounted"}
	}
	a := data.WriteAmounts(w.v, w.h, c)
	w.covered(a)
	return a
}

// amountsKey is the key of what is answer.OncePerTable of the collections that are not sharded.
type amountsKey struct{ by string }

// unshardedAmounts are data.SizeAmounts of the table's Unsharded. Read only.
func unshardedAmounts(v answer.View, by string) []data.ChunkAmounts {
	return answer.OncePerTable(v, amountsKey{by}, func() []data.ChunkAmounts {
		return answer.Map(v.Table.Unsharded, func(ns topology.Namespace) data.ChunkAmounts { return data.SizeAmounts(v, ns, nil, by) })
	})
}

// shareOf compares what the shard has of a collection with its even share of it.
func (w *shardWhy) shareOf(ns topology.Namespace, c *topology.Collection, a data.ChunkAmounts) collectionShare {
	s := collectionShare{ns: ns, c: c, here: a.On[w.q.Shard], exact: a.Exact, atLeast: a.AtLeast}
	var spans []answer.ZoneSpan
	if c != nil && !c.Unsplittable {
		spans = answer.ZoneSpansOf(w.v.Table, c)
	}
	if len(spans) == 0 {
		s.even = a.Total() * w.even.Part("")
		return s
	}
	s.zoned, s.exact = true, false
	left := a.Total()
	w.even.Parts(c, spans, 0, c.Chunks.Len(), func(i int, owner string, part float64) {
		x := a.Of(i, owner)
		s.even += x * part
		left -= x
	})
	s.even += left * w.even.Part("") // on shards that own no chunk, or measured with another result
	return s
}

// partOf is a collection as a part.
func (w *shardWhy) partOf(c *topology.Collection, a data.ChunkAmounts) whyPart {
	return w.sharePart(w.shareOf(c.NS, c, a), func() data.ChunkAmounts { return a })
}

// sharePart is a share as a part; amounts are of its chunks.
func (w *shardWhy) sharePart(s collectionShare, amounts func() data.ChunkAmounts) whyPart {
	p := whyPart{ShardWhyPart: api.ShardWhyPart{Kind: "collection", Text: string(s.ns), NS: string(s.ns), Count: 1,
		Exact: s.exact, AtLeast: s.atLeast}, here: s.here, even: s.even}
	if s.c == nil || s.c.Unsplittable {
		w.unshardedRemedy(&p, s.ns, s.c)
		return p
	}
	w.zoned = w.zoned || s.zoned
	p.Page, p.Opens = answer.CollectionURL(s.ns), w.q.Of(w.q.By, s.ns, "").URL()
	w.collectionRemedy(&p, s.c, amounts)
	return p
}

// inside are the parts of one collection: its projects or its chunks.
func (w *shardWhy) inside() (whyParts, error) {
	c, err := data.ShardedCollection(w.v.Table, w.q.NS)
	if err != nil {
		return whyParts{}, err
	}
	a := w.amounts(c.NS, c)
	w.out.Level = "chunks"
	if a.Reason != "" {
		w.why = "The sizes of " + string(c.NS) + " are not known yet."
		if w.q.By == data.OfWrites {
			w.why = "The writes to " + string(c.NS) + " are not counted."
		}
		return whyParts{}, nil
	}
	whole := w.partOf(c, a)
	in := w.newInside(c, a, whole)
	switch {
	case w.q.Project == "" || w.q.Project == AllProjects:
		if in.divided() {
			// Where no project has a chunk alone, there is only the part of all chunks.
			if out := in.projects(); len(out.list) > 1 || len(out.list) == 1 && out.list[0].Kind == "project" {
				w.out.Level = "projects"
				return out, nil
			}
		}
		w.out.Skipped = true
		if in.estimable() {
			w.out.ByProject = w.q.Of(w.q.By, c.NS, AllProjects).URL()
		}
		return in.chunks(nil), nil
	case w.q.Project == SeveralProjects:
		return in.sharedChunks(), nil
	}
	id, err := bson.ObjectIDFromHex(w.q.Project)
	if err != nil {
		return whyParts{}, err
	}
	w.out.ProjectName = w.v.ProjectName(c.NS.Database(), id)
	return in.chunksOf(id), nil
}

// chunkPart is a chunk as a part.
func (w *shardWhy) chunkPart(c *topology.Collection, i int, here, even float64, exact bool) whyPart {
	ch := c.Chunks.At(i)
	p := whyPart{ShardWhyPart: api.ShardWhyPart{Kind: "chunk", NS: string(c.NS), Chunk: answer.ChunkRef(c, ch.Min), Count: 1, Number: i + 1,
		Since: api.Instant(ch.Since), Exact: exact,
		Text: "chunk " + format.Count(int64(i+1)) + " from " + answer.BoundTextNamed(w.v.KeyProjects(c), c.Key, ch.Min)}, here: here, even: even}
	p.Page = answer.ChunkURL(c.NS, p.Chunk)
	return p
}

// projectPart is a project as a part.
func (w *shardWhy) projectPart(ns topology.Namespace, id bson.ObjectID) whyPart {
	name := w.v.ProjectName(ns.Database(), id)
	return whyPart{ShardWhyPart: api.ShardWhyPart{Kind: "project", Text: cmp.Or(name, id.Hex()), NS: string(ns),
		Project: id.Hex(), ProjectName: name,
		Opens: w.q.Of(w.q.By, ns, id.Hex()).URL(), Page: "/projects/" + id.Hex()}}
}
