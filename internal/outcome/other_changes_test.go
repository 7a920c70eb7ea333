package outcome

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

func TestMigrationsByOthersAreDistinguishedFromTheRunsOwn(t *testing.T) {
	run := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	k := &measurement{run: run, scope: scopeOf(run)}
	b, a := windows(run.Started, run.Ended)
	table := func(events ...topology.Event) *topology.Table {
		return &topology.Table{Collections: []*topology.Collection{collection(t, []int64{0, 10}, "a", "a", "b")}, Events: events}
	}
	move := func(when time.Time, of topology.Namespace, lo bson.Raw, to string) topology.Event {
		hi := keyAt(10)
		if string(lo) == string(hi) {
			hi = maxKey()
		}
		d, err := bson.Marshal(bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}, {Key: "to", Value: to}})
		must.Do(t, err)
		return topology.Event{Time: when, What: "moveChunk.commit", NS: string(of), Details: d}
	}
	events := []topology.Event{
		move(a.From.Add(time.Minute), ns, keyAt(10), "a"),          // another chunk, after
		move(start.Add(10*time.Second), ns, keyAt(0), "b"),         // its own move
		move(start.Add(9*time.Second), ns, keyAt(10), "b"),         // another chunk, during the run
		move(start.Add(8*time.Second), "app.other", keyAt(0), "b"), // another collection
		move(b.From.Add(-time.Second), ns, keyAt(10), "c"),         // long before
		{Time: start, What: "moveChunk.start", NS: string(ns)},
	}
	if n, again := otherMigrations(table(events...), k, Span{b.From, a.To}); n != 2 || again {
		t.Errorf("%d by others, want 2; again: %v", n, again)
	}
	if n, again := otherMigrations(table(move(a.From, ns, keyAt(0), "c")), k, Span{b.From, a.To}); n != 1 || !again {
		t.Errorf("its own chunk was moved again: %d by others, again: %v", n, again)
	}
	k.scope.awaits = true // the run waits for the balancer, so moves during it are its own
	if n, _ := otherMigrations(table(events...), k, Span{b.From, a.To}); n != 1 {
		t.Errorf("%d by others while it waits for the balancer, want 1", n)
	}
}
