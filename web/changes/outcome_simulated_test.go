package changes_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/heat"
	"shardboard/internal/outcome"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// hotDoc is a Yorkie document and the chunk of changes that its rows go to.
type hotDoc struct {
	id    bson.ObjectID
	chunk int
}

// twoHot are documents of two chunks of one shard, and one of another shard.
func twoHot(f *webtest.BreakableServer) (stays, goes, other hotDoc, to string) {
	f.Helper()
	c := f.Watcher.Table().Collection("yorkie-meta.changes")
	ids, err := f.Client.IDs(f.Context(), "yorkie-meta.documents", nil, bson.RawValue{}, 300)
	f.Must(err)
	seen, by := map[int]bool{}, map[string][]hotDoc{}
	for _, d := range ids {
		k, err := c.Key.Extract(webtest.MustBSON(bson.D{{Key: "doc_id", Value: d.ID}}))
		f.Must(err)
		if i, ch := c.Chunks.Find(k); !seen[i] {
			seen[i] = true
			by[ch.Shard] = append(by[ch.Shard], hotDoc{d.ID, i})
		}
	}
	for from, list := range by {
		for shard := range by {
			if len(list) > 1 && shard != from {
				return list[0], list[1], by[shard][0], shard
			}
		}
	}
	f.Fatalf("no shard has documents in two chunks: %v", by)
	return stays, goes, other, to
}

// write inserts rows of documents each second, so many seconds long.
func write(f *webtest.BreakableServer, seconds int, rates map[hotDoc]int) {
	f.Helper()
	for range seconds {
		for of, n := range rates {
			var rows bson.A
			for i := range n {
				rows = append(rows, bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(time.Now())}, {Key: "project_id", Value: of.id},
					{Key: "doc_id", Value: of.id}, {Key: "server_seq", Value: time.Now().UnixNano() + int64(i)}, {Key: "actor_id", Value: of.id}})
			}
			_, err := f.Sim.Command(f.Context(), "yorkie-meta", bson.D{{Key: "insert", Value: "changes"}, {Key: "documents", Value: rows}})
			f.Must(err)
		}
		time.Sleep(time.Second)
	}
}

// A move of a hot chunk on a simulated cluster is measured by the real counter before and after.
func TestAMoveOfAHotChunkIsMeasuredBeforeAndAfter(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 25 minutes")
	}
	near := func(got, want float64) bool { return got > want-.02 && got < want+.02 }
	webtest.OnBreakableCluster(t, simcluster.Options{Projects: 15, Documents: 300, Still: true}, func(f *webtest.BreakableServer) {
		counter := heat.NewCollector(f.Client, f.Watcher, profile.Yorkie(), heat.Options{Seed: 3})
		hot := outcome.New(outcome.Options{Runs: f.Engine, Tables: f.Watcher, Profile: profile.Yorkie(), Store: store.Store(f.DB)})
		counter.OnSlot(hot.Take)
		ctx, end := context.WithCancel(context.Background())
		var parts sync.WaitGroup
		parts.Go(func() { _ = counter.Run(ctx) })
		parts.Go(func() { _ = hot.Run(ctx) })
		defer func() { end(); parts.Wait() }()
		f.Server = webtest.New(f.T, webtest.WithPeople, webtest.WithActions(f.Engine), f.Wired, func(d *site.Deps) { d.Changes.Outcomes = hot })
		runNow := func(id string) api.Run {
			return webtest.Decode[api.Run](f.T, f.Do("GET", "/api/v1/runs/"+id, webtest.As("vera", auth.Viewer)))
		}

		stays, goes, other, to := twoHot(f)
		load := map[hotDoc]int{stays: 2, goes: 2, other: 1}
		write(f, 11*60, load)
		c := f.Watcher.Table().Collection("yorkie-meta.changes")
		p := f.Plan("anna", `{"kind":"move","args":{"ns":"yorkie-meta.changes","chunk":"`+
			answer.ChunkRef(c, c.Chunks.At(goes.chunk).Min)+`","to":"`+to+`"},"reason":"hot"}`)
		w := f.Post("anna", "/api/v1/plans/"+p.ID+"/run", hashOf(p))
		var run api.Run
		if err := json.Unmarshal(w.Body.Bytes(), &run); err != nil || w.Code != http.StatusAccepted {
			f.Fatalf("%d %s", w.Code, w.Body)
		}
		if run = f.Ended(run.ID); run.State != "succeeded" {
			f.Fatalf("the move: %s %s", run.State, run.Why)
		}
		told, stop := hot.Subscribe()
		defer stop()
		if o := run.Outcome; o == nil || o.State != "tooEarly" || o.KnownAt == nil || o.Verdict != "" || o.After.Writes != nil ||
			!near(*o.Before.HottestShare, .8) {
			f.Fatalf("just after the run: %+v", o)
		}
		write(f, int(time.Until(*run.Outcome.KnownAt).Seconds()), load)
		if o := runNow(run.ID).Outcome; o.State != "soFar" || o.Verdict != "helped" || len(told) == 0 {
			f.Errorf("%s before its time: %+v", o.State, o)
		}
		<-told
		time.Sleep(15 * time.Second)
		if len(told) == 0 {
			f.Error("nobody was told")
		}
		is := runNow(run.ID)
		o := is.Outcome
		if o.State != "measured" || o.Verdict != "helped" || !near(*o.Before.HottestShare, .8) || !near(*o.After.HottestShare, .6) ||
			o.After.Hottest != to || o.Before.CoveredSeconds != 600 || o.After.CoveredSeconds != 600 || len(o.Notes) != 0 {
			f.Fatalf("%s, %s: %s; before %+v, after %+v", o.State, o.Verdict, o.Text, o.Before, o.After)
		}
		// The figures are those that were written: five rows a second.
		if rows := o.Before.Writes.Rows; rows < 2950 || rows > 3050 || !o.Before.Writes.Exact {
			f.Errorf("before: %+v", o.Before.Writes)
		}
		i := slices.IndexFunc(o.Chunks, func(c api.OutcomeChunk) bool { return c.ShardAfter == to && c.Before != nil })
		if i < 0 || !near(o.Chunks[i].Before.WritesPerSecond, 2) || !near(o.Chunks[i].After.WritesPerSecond, 2) || o.Chunks[i].ShardBefore == to {
			f.Errorf("chunks %+v", o.Chunks)
		}
		if c := is.Cost; c == nil || c.Moved != 1 || c.Actual.Documents.Value == nil || *c.Actual.Documents.Value == 0 ||
			c.Actual.Bytes.Value == nil || c.Estimated.Bytes.Value == nil {
			f.Errorf("cost %+v", c)
		}
	})
}
