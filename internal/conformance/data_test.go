package conformance_test

import (
	"cmp"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// insertDocuments writes n documents as an application and returns their size.
func (w *world) insertDocuments(ns topology.Namespace, n int, document func(int) bson.D) (bytes int64) {
	w.Helper()
	docs := make([]any, n)
	for i := range docs {
		d := marshal(append(bson.D{{Key: "_id", Value: bson.NewObjectID()}}, document(i)...))
		docs[i] = d
		bytes += int64(len(d))
	}
	must.Do(w, must.Err(w.data.Database(ns.Database()).Collection(ns.Collection()).InsertMany(w.Context(), docs)))
	return bytes
}

func TestShardSizesAddUpToTheInsertedData(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		const n = 300
		ns := w.shardCollection("hashed", bson.D{{Key: "k", Value: "hashed"}})
		bytes := w.insertDocuments(ns, n, func(i int) bson.D {
			return bson.D{{Key: "k", Value: int32(i)}, {Key: "text", Value: "some text of a document"}}
		})
		sizes, err := w.source.Sizes(w.Context(), ns)
		must.Do(t, err)
		w.checkSizes(sizes, n, bytes)
		all, err := w.source.AllSizes(w.Context())
		if fault.Of(err) == fault.NotFound && !w.atLeast(6, 1) {
			return // exists since 6.0.3
		}
		must.Do(t, err)
		at := slices.IndexFunc(all, func(s topology.Sizes) bool { return s.NS == ns })
		must.That(t, at >= 0, "%s is not among %d collections", ns, len(all))
		w.checkSizes(all[at], n, bytes)
	})
}

// Every shard reports its disk for a database that has data on all shards.
func TestEveryShardReportsItsDiskUsage(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("disks", bson.D{{Key: "k", Value: "hashed"}})
		w.insertDocuments(ns, 300, func(i int) bson.D { return bson.D{{Key: "k", Value: int32(i)}} })
		shards, err := w.source.Shards(w.Context())
		must.Do(t, err)
		disks, err := w.source.Disks(w.Context(), ns.Database(), shards)
		must.Do(t, err)
		for _, name := range w.follow(ns).owners() {
			if d := disks[name]; !d.Known() || d.Total.Value < 1<<30 || d.Free() <= 0 {
				w.Errorf("%s: %+v", name, d)
			}
		}
		disks, err = w.source.Disks(w.Context(), w.db+"-nowhere", shards)
		must.Do(t, err)
		for name, d := range disks {
			expect.That(w, !d.Known(), "%s, of a database that is not there: %+v", name, d)
		}
	})
}

// checkSizes compares the sums over all shards with the inserted data.
func (w *world) checkSizes(s topology.Sizes, documents, bytes int64) {
	w.Helper()
	var gotDocuments, gotBytes int64
	owners := w.follow(s.NS).owners()
	for name, size := range s.Shards {
		expect.That(w, slices.Contains(w.shards, name), "figures of the unknown shard %q", name)
		if !size.Documents.Known || !size.Bytes.Known {
			w.Errorf("%s: %+v, want size.Documents.Known true, size.Bytes.Known true", name, size)
		}
		if size.Documents.Value > 0 && !slices.Contains(owners, name) {
			w.Errorf("%s has %d documents and no chunk", name, size.Documents.Value)
		}
		gotDocuments += size.Documents.Value
		gotBytes += size.Bytes.Value
	}
	if gotDocuments != documents || gotBytes != bytes {
		w.Errorf("%d documents of %d bytes, inserted %d of %d", gotDocuments, gotBytes, documents, bytes)
	}
}

// owners returns the shards that have chunks.
func (f *follower) owners() (out []string) {
	for _, c := range f.chunks {
		out = append(out, c.Shard)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestEveryActionIsInTheChangelog(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		w.needShards(2)
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		before, err := w.source.Events(w.Context(), nil, 1)
		must.Do(t, err)
		var newest *topology.Event
		if len(before) > 0 {
			newest = &before[0]
		}
		f := w.follow(ns)
		ctx := w.Context()
		for _, at := range []int32{0, 10, 20} {
			must.Do(t, w.send(ctx, operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyDoc(at)}))
		}
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpMove, NS: ns, Min: keyDoc(int32(0)), Max: keyDoc(int32(10)),
			Shard: w.otherShard(f.chunks[0].Shard)}))
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpMerge, NS: ns, Min: keyDoc(int32(10)), Max: keyDoc(bson.MaxKey{})}))
		events, err := w.source.Events(ctx, newest, 1000)
		must.Do(t, err)
		seen := map[string]int{}
		for _, e := range events {
			if e.NS != string(ns) {
				continue
			}
			seen[e.What]++
			expect.That(t, e.ID != "" && !e.Time.IsZero(), "an event without id or time: %+v", e)
			if e.What == "moveChunk.commit" {
				if from, _ := e.Details.Lookup("from").StringValueOK(); from != f.chunks[0].Shard {
					t.Errorf("moved from %q: %v", from, e.Details)
				}
			}
		}
		// A server may log other events too, and an event more than once.
		for what, n := range map[string]int{"split": 3, "moveChunk.start": 1, "moveChunk.commit": 1, "merge": 1} {
			expect.That(t, seen[what] >= n, "%d × %s, want %d; seen: %v", seen[what], what, n, seen)
		}
		if !slices.IsSortedFunc(events, func(a, b topology.Event) int { return cmp.Compare(b.Time.Unix()/60, a.Time.Unix()/60) }) {
			t.Error("the newest is not first") // the servers' clocks may differ by seconds
		}
	})
}
