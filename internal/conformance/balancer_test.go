package conformance_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

func TestBalancingOfACollectionIsDisabledAndEnabled(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		expect.That(t, w.head(ns).NoBalance, "balancing is on")
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpBalancing, NS: ns, On: true}))
		expect.That(t, !w.head(ns).NoBalance, "balancing is off")
		w.expectRefusal(fault.NotFound, w.send(w.Context(), operation.Step{Op: operation.OpBalancing, NS: topology.Namespace(w.db + ".none")}),
			"switch balancing of no collection")
		if ok, violation, err := w.client.Balanced(w.Context(), ns); err != nil || !ok || violation != "" {
			t.Errorf("one chunk is balanced %v, %q, %v, want ok true, violation empty", ok, violation, err)
		}
	})
}

func TestMigrationsOfACollectionAreForbiddenAndAllowed(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		w.needShards(2)
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		f := w.follow(ns)
		err := w.send(w.Context(), operation.Step{Op: operation.OpMigrations, NS: ns})
		if !w.atLeast(5, 0) {
			if err != nil { // some 4.4 releases have it
				w.expectRefusal(fault.NotFound, err, "forbid migrations on a release without it")
				return
			}
		}
		must.Do(t, err)
		expect.That(t, w.head(ns).MigrationsBlocked, "migrations are allowed")
		lower, upper := f.boundDocuments(f.chunks[0])
		m := operation.Step{Op: operation.OpMove, NS: ns, Min: lower, Max: upper, Shard: w.otherShard(f.chunks[0].Shard)}
		w.expectRefusal(fault.Conflict, w.send(w.Context(), m), "move while migrations are forbidden")
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpMigrations, NS: ns, On: true}))
		expect.That(t, !w.head(ns).MigrationsBlocked, "migrations are forbidden")
		must.Do(t, w.send(w.Context(), m))
		f.readChanges("a move")
	})
}

func TestBalancingOfACollectionIsConfigured(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		if !w.atLeast(6, 0) {
			w.expectRefusal(fault.NotFound, w.send(w.Context(), operation.Step{Op: operation.OpChunkSize, NS: ns, Size: 7}),
				"set a chunk size on a release without it")
			return
		}
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpChunkSize, NS: ns, Size: 7}))
		expect.Equal(t, w.head(ns).MaxChunkBytes, 7<<20, "chunk size")
		w.expectRefusal(fault.Invalid, w.send(w.Context(), operation.Step{Op: operation.OpChunkSize, NS: ns, Size: 1025}),
			"set a chunk size that is too large")
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpChunkSize, NS: ns}))
		if got := w.head(ns).MaxChunkBytes; got != 0 {
			t.Errorf("chunk size %d after it was removed", got)
		}
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpBalancing, NS: ns})) // so that it does not end before it is read
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpDefragment, NS: ns, On: true}))
		if h := w.head(ns); !h.Defragmenting || h.Ending() {
			t.Errorf("started: %+v", h.Upkeep)
		}
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpDefragment, NS: ns}))
		if h := w.head(ns); !h.Ending() {
			t.Errorf("stopped: %+v", h.Upkeep)
		}
		if !w.atLeast(7, 0) {
			if err := w.send(w.Context(), operation.Step{Op: operation.OpAutoMerge, NS: ns}); err == nil {
				t.Error("a release without automatic merging accepted the option")
			}
			return
		}
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpAutoMerge, NS: ns}))
		if h := w.head(ns); !h.AutoMergeOff {
			t.Errorf("merging off: %+v", h.Upkeep)
		}
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpAutoMerge, NS: ns, On: true}))
		if h := w.head(ns); h.AutoMergeOff {
			t.Errorf("merging on: %+v", h.Upkeep)
		}
	})
}

func TestBalancerIsStoppedStartedAndGivenAWindow(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		databases, err := w.source.Databases(w.Context())
		must.Do(t, err)
		if slices.ContainsFunc(databases, func(d topology.Database) bool { return !strings.HasPrefix(d.Name, "shardboard_test_") }) {
			if w.simulated && !slices.ContainsFunc(databases, func(d topology.Database) bool { return d.Name == "busy" }) {
				t.Fatalf("the simulated cluster has databases already: %v", databases)
			}
			t.Skip("the balancer of a cluster in use is left alone")
		}
		before := w.balancerSettings()
		w.Cleanup(func() {
			ctx := context.Background()
			if before.Enabled() {
				must.Do(t, w.send(ctx, operation.Step{Op: operation.OpBalancerOn}))
			} else {
				must.Do(t, w.send(ctx, operation.Step{Op: operation.OpBalancerOff}))
			}
			must.Do(t, w.send(ctx, operation.Step{Op: operation.OpBalancerWindow, Start: before.WindowStart, Stop: before.WindowStop}))
		})
		ctx := w.Context()
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpBalancerOff}))
		if b := w.balancerSettings(); b.Enabled() || !b.Stopped {
			t.Errorf("stopped: %+v", b)
		}
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpBalancerWindow, Start: "23:00", Stop: "04:30"}))
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpBalancerOn}))
		if b := w.balancerSettings(); !b.Enabled() || b.WindowStart != "23:00" || b.WindowStop != "04:30" {
			t.Errorf("started with a window: %+v", b)
		}
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpBalancerWindow}))
		if b := w.balancerSettings(); !b.Enabled() || b.WindowStart != "" || b.WindowStop != "" {
			t.Errorf("without a window: %+v", b)
		}
		for _, wrong := range [][2]string{{"24:00", "01:00"}, {"1:00", "02:00"}, {"", "02:00"}, {"03:00", "03:00"}} {
			w.expectRefusal(fault.Invalid, w.send(ctx, operation.Step{Op: operation.OpBalancerWindow, Start: wrong[0], Stop: wrong[1]}),
				"set the window "+wrong[0]+"-"+wrong[1])
		}
		if _, _, err := w.source.BalancerStatus(ctx); err != nil {
			t.Error(err)
		}
	})
}

func (w *world) balancerSettings() topology.Balancer {
	w.Helper()
	b, err := w.source.Settings(w.Context())
	must.Do(w, err)
	return b
}
