package enginetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/topology"
)

// fakeRecentWrites reports rows written with the values 11, 14 and 18 of p, and no
// writes to any shard except shard-rs-1.
type fakeRecentWrites struct{ asked *int }

func (w fakeRecentWrites) RecentWrites(_ context.Context, t *topology.Table, of []actions.Span) actions.Writes {
	*w.asked++
	out := actions.Writes{At: time.Now(), Shards: map[string]float64{"shard-rs-1": 9}}
	for _, s := range of {
		r := topology.RangeWrites{
			NS:        s.NS,
			Min:       s.Min,
			Max:       s.Max,
			Method:    topology.WritesCounted,
			From:      time.Now().Add(-time.Minute),
			To:        time.Now(),
			InShards:  true,
			Rows:      90,
			PerSecond: 6,
		}
		for _, p := range []int32{11, 14, 18} {
			raw, _ := bson.Marshal(bson.D{{Key: "p", Value: p}})
			k, err := t.Collection(s.NS).Key.Bound(raw)
			if err != nil {
				panic(err)
			}
			r.Keys = append(r.Keys, topology.KeyWrites{Key: k, Rows: 30})
		}
		out.Ranges = append(out.Ranges, r)
	}
	return out
}

// Recent writes are read only for plans that depend on them. The chosen cuts are
// saved with the plan, so that running it in a later process does not choose again.
func TestHotSplitKeepsItsCutsWithThePlan(t *testing.T) {
	asked := 0
	key := func(p int32) bson.Raw {
		raw, err := bson.Marshal(bson.D{{Key: "p", Value: p}})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	OnRig(t, Setup{Wrap: func(o *engine.Options) { o.Recent = fakeRecentWrites{&asked} }}, func(r *Rig) {
		r.Plan(actions.Split, actions.Args{NS: NS, At: key(5)})
		if asked != 0 {
			r.Error("a plan that does not depend on writes asked for them")
		}
		p := r.Plan(actions.SplitHot, actions.Args{NS: NS, Bounds: [2]bson.Raw{key(10), key(20)}})
		if asked != 1 || len(p.Args.Cuts) != 1 {
			r.Fatalf("asked %d times, %+v", asked, p.Checks)
		}
		r.Restart()
		kept, err := r.Engine.PlanByID(r.Context(), p.ID)
		r.Must(err)
		if !slices.EqualFunc(kept.Args.Cuts, p.Args.Cuts, func(a, b actions.Cut) bool {
			return string(a.At) == string(b.At) && string(a.Min) == string(b.Min) && string(a.Max) == string(b.Max) && a.Half == b.Half &&
				a.To == b.To
		}) {
			r.Errorf("kept %+v, made %+v", kept.Args.Cuts, p.Args.Cuts)
		}
		run := r.WaitEnd(r.Start(kept).ID)
		if run.State != engine.Succeeded {
			r.Errorf("%s %v", run.State, run.Why)
		}
	})
}
