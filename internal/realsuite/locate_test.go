package realsuite_test

import (
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// settling is how long the product's table may differ from the cluster while chunks move.
const settling = 30 * time.Second

// located is what the tests look at of an answer to locate.
type located struct {
	Items []struct {
		Kind, ID string
		Places   []struct {
			NS, Shard string
			Shards    []string
			Sharded   bool
			Exists    *bool
		}
	}
}

// locate compares where the product locates keys, projects and documents with where the router sends a
// find for them.
func locate(w *world) {
	d := w.serve()
	for _, db := range []string{hashedData, rangedData} {
		w.point(db+" keys", func(w *world) { locateKeys(w, d, db, w.form.count(200, 20)) })
		w.point(db+" documents", func(w *world) { locateDocuments(w, d, db, w.form.count(40, 10)) })
	}
	w.point("while chunks move", func(w *world) {
		ctx, stop := context.WithCancel(w.Context())
		defer stop()
		var moved atomic.Int64
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			moveRandomly(ctx, w, []string{hashedData + ".changes", hashedData + ".documents", rangedData + ".changes"}, &moved)
		}()
		enough := int64(w.form.count(30, 5))
		for rounds := 0; rounds == 0 || moved.Load() < enough && !isClosed(ended); rounds++ {
			for _, db := range []string{hashedData, rangedData} {
				locateKeys(w, d, db, w.form.count(60, 8))
				locateDocuments(w, d, db, w.form.count(20, 5))
			}
		}
		stop()
		<-ended
		w.Logf("%d chunks moved meanwhile", moved.Load())
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// shardedOf lists the sharded collections of a database.
func (w *world) shardedOf(db string) (all []collection) {
	w.Helper()
	cursor, err := w.config("collections").Find(w.Context(), bson.D{{Key: "_id", Value: bson.Regex{Pattern: "^" + db + `\.`}},
		{Key: "dropped", Value: bson.D{{Key: "$ne", Value: true}}}, {Key: "unsplittable", Value: bson.D{{Key: "$ne", Value: true}}}})
	w.must(err)
	w.must(cursor.All(w.Context(), &all))
	return all
}

// randomKey is a shard key that no row needs to have: of ids, as Yorkie's fields are.
func randomKey(key bson.D) bson.D {
	var out bson.D
	for _, field := range key {
		var id bson.ObjectID
		_, _ = rand.Read(id[:])
		// Ids of the last years, so that they fall among the chunks.
		id[0], id[1] = 0x69, byte(mathrand.IntN(0x30))
		out = append(out, bson.E{Key: field.Key, Value: id})
	}
	return out
}

// someRows are shard keys of rows.
func someRows(w *world, ns string, key bson.D, n int) (all []bson.D) {
	w.Helper()
	project := bson.D{}
	for _, f := range key {
		project = append(project, bson.E{Key: f.Key, Value: 1})
	}
	if !slices.ContainsFunc(key, func(f bson.E) bool { return f.Key == "_id" }) {
		project = append(project, bson.E{Key: "_id", Value: 0})
	}
	cursor, err := w.namespace(ns).Aggregate(w.Context(), bson.A{
		bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: n}}}}, bson.D{{Key: "$project", Value: project}}})
	w.must(err)
	var rows []bson.D
	w.must(cursor.All(w.Context(), &rows))
	for _, r := range rows {
		var k bson.D
		for _, f := range key {
			for _, e := range r {
				if e.Key == f.Key {
					k = append(k, e)
				}
			}
		}
		if len(k) == len(key) {
			all = append(all, k)
		}
	}
	return all
}

// locateKeys compares n shard keys of each collection, half of them of rows.
func locateKeys(w *world, d *dashboard, db string, n int) {
	w.Helper()
	compared := 0
	for _, c := range w.shardedOf(db) {
		keys := someRows(w, c.ID, c.Key, n/2)
		for len(keys) < n {
			keys = append(keys, randomKey(c.Key))
		}
		for _, key := range keys {
			text := must.Get(bson.MarshalExtJSON(key, true, false))
			path := "/api/v1/locate?ns=" + url.QueryEscape(c.ID) + "&key=" + url.QueryEscape(string(text))
			expect.NoError(w, agreeOnKey(w, d, c.ID, path, key), "%s %s", c.ID, text)
			compared++
		}
	}
	w.Logf("%s: %d keys compared", db, compared)
	expect.That(w, compared >= 3*n, "%d keys are too few for a meaningful test", compared)
}

// agreeOnKey compares until the router answers the same before and after the product did.
func agreeOnKey(w *world, d *dashboard, ns, path string, key bson.D) error {
	return until(w.Context(), settling, func(ctx context.Context) error {
		before, err := w.targets(ctx, ns, equals(key))
		if err != nil {
			return err
		}
		var answer located
		if err := d.get(ctx, path, &answer); err != nil {
			return err
		}
		if len(answer.Items) != 1 || len(answer.Items[0].Places) != 1 {
			return fmt.Errorf("the product answers %+v", answer)
		}
		if got := answer.Items[0].Places[0].Shard; len(before) != 1 || got != before[0] {
			return fmt.Errorf("the product says %s, the router asks %v", got, before)
		}
		return nil
	})
}

// equals makes a filter of a key; with $eq, because a value could be a document.
func equals(key bson.D) (filter bson.D) {
	for _, e := range key {
		filter = append(filter, bson.E{Key: e.Key, Value: bson.D{{Key: "$eq", Value: e.Value}}})
	}
	return filter
}

// locateDocuments compares documents and their projects by the names that people have.
func locateDocuments(w *world, d *dashboard, db string, n int) {
	w.Helper()
	cursor, err := w.namespace(db+".documents").Aggregate(w.Context(), bson.A{
		bson.D{{Key: "$match", Value: bson.D{{Key: "removed_at", Value: bson.D{{Key: "$exists", Value: false}}}}}},
		bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: n}}}}})
	w.must(err)
	var rows []struct {
		ID      bson.ObjectID `bson:"_id"`
		Project bson.ObjectID `bson:"project_id"`
		Key     string
	}
	w.must(cursor.All(w.Context(), &rows))
	for _, r := range rows {
		err := until(w.Context(), settling, func(ctx context.Context) error {
			var answer located
			if err := d.get(ctx, "/api/v1/locate?q="+url.QueryEscape(r.Project.Hex()+"/"+r.Key), &answer); err != nil {
				return err
			}
			compared := 0
			for _, item := range answer.Items {
				if item.Kind != "document" || item.ID != r.ID.Hex() {
					continue
				}
				for _, place := range item.Places {
					filter := bson.D{{Key: "doc_id", Value: r.ID}}
					if place.NS == db+".documents" {
						filter = bson.D{{Key: "project_id", Value: r.Project}, {Key: "_id", Value: r.ID}}
					} else if place.NS != db+".changes" {
						continue
					}
					shards, err := w.targets(ctx, place.NS, filter)
					if err != nil {
						return err
					}
					if len(shards) != 1 || place.Shard != shards[0] {
						return fmt.Errorf("%s is on %s, the router asks %v", place.NS, place.Shard, shards)
					}
					compared++
				}
			}
			if compared != 2 {
				return fmt.Errorf("%d places were compared of %+v", compared, answer)
			}
			return nil
		})
		expect.That(w, err == nil, "%s %s/%s: %v", db, r.Project.Hex(), r.Key, err)
	}
	expect.That(w, len(rows) >= n/2, "%d documents are too few for a meaningful test", len(rows))
}

// moveRandomly moves random chunks until the context ends, and finishes the last move.
func moveRandomly(ctx context.Context, w *world, namespaces []string, moved *atomic.Int64) {
	for ctx.Err() == nil {
		ns := namespaces[mathrand.IntN(len(namespaces))]
		all := w.chunks(ns)
		c := all[mathrand.IntN(len(all))]
		if err := w.move(context.WithoutCancel(ctx), ns, c, w.otherShard(c.Shard)); err != nil {
			w.Errorf("move a chunk of %s: %v", ns, err)
			return
		}
		moved.Add(1)
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
