package conformance_test

import (
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestCollectionsAreResharded(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		if !w.simulated && os.Getenv("SHARDBOARD_LONG") == "" {
			t.Skip("a real server takes at least five minutes; SHARDBOARD_LONG is not set")
		}
		ns := w.shardCollection("resharded", bson.D{{Key: "p", Value: int32(1)}})
		w.insertDocuments(ns, 200, func(i int) bson.D { return bson.D{{Key: "p", Value: int32(i)}, {Key: "k", Value: int32(i % 50)}} })
		key := must.Get(bson.Marshal(bson.D{{Key: "k", Value: int32(1)}}))
		reshard := operation.Reshard{Key: key, Chunks: 4}
		before := w.head(ns)
		if !w.atLeast(5, 0) {
			w.expectRefusal(fault.NotFound, w.send(w.Context(), operation.Step{Op: operation.OpReshard, NS: ns, Reshard: &reshard}),
				"reshard before 5.0")
			w.expectRefusal(fault.NotFound, w.send(w.Context(), operation.Step{Op: operation.OpReshardAbort, NS: ns}), "abort before 5.0")
			w.expectRefusal(fault.NotFound, w.send(w.Context(), operation.Step{Op: operation.OpReshardCommit, NS: ns}), "commit before 5.0")
			return
		}
		w.expectRefusal(fault.Conflict, w.send(w.Context(), operation.Step{Op: operation.OpReshardAbort, NS: ns}), "abort nothing")
		w.expectRefusal(fault.Conflict, w.send(w.Context(), operation.Step{Op: operation.OpReshardCommit, NS: ns}), "commit nothing")

		// A unique index that does not begin with the new key.
		indexes := w.data.Database(w.db).Collection(ns.Collection()).Indexes()
		unique, err := indexes.CreateOne(w.Context(), mongo.IndexModel{Keys: bson.D{{Key: "p", Value: 1}},
			Options: options.Index().SetUnique(true).SetName("unique")})
		must.Do(t, err)
		w.expectRefusal(fault.Invalid, w.send(w.Context(), operation.Step{Op: operation.OpReshard, NS: ns, Reshard: &reshard}),
			"reshard past a unique index")
		if h := w.head(ns); h.Incarnation.UUID != before.Incarnation.UUID || h.Resharding {
			t.Errorf("after the refusal: %+v", h.Meta)
		}
		must.Do(t, indexes.DropOne(w.Context(), unique))

		step := operation.Step{Op: operation.OpReshard, NS: ns, Reshard: &reshard}
		sent, ended := time.Now(), make(chan error, 1)
		go func() {
			ended <- w.send(w.Context(), operation.Step{Op: operation.OpReshard, NS: ns, Reshard: &reshard})
		}()
		seen := false
		for err = nil; ; {
			select {
			case err = <-ended:
			case <-time.After(20 * time.Second):
				trace, err := w.client.Trace(w.Context(), run, step, sent)
				must.Do(t, err)
				if r := trace.Resharding; r != nil && r.NS == ns {
					seen = true
					expect.That(t, trace.Running && r.ID != "" && r.State != "", "got %+v", r)
				}
				continue
			}
			break
		}
		must.Do(t, err)
		expect.That(t, seen || time.Since(sent) <= time.Minute, "the running operation was never seen")
		after := w.head(ns)
		if after.Key.String() != "{k: 1}" || after.Incarnation.UUID == before.Incarnation.UUID || after.Resharding {
			t.Errorf("got %+v", after.Meta)
		}
		replaced := operation.Fact{Kind: operation.FactResharded, NS: ns, Was: operation.UUIDText(before.Incarnation.UUID)}
		got, err := w.client.ReadFact(w.Context(), replaced)
		must.Do(t, err)
		expect.That(t, got["replaced"] == "true" && got["key"] == "{k: 1}" && got["resharding"] == "false", "read %v", got)
		trace, err := w.client.Trace(w.Context(), run, step, sent)
		must.Do(t, err)
		expect.That(t, !trace.Running && len(trace.Events) != 0, "after the end: %+v", trace)
	})
}
