package enginetest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/chunksize"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// measureChunks lets the engine measure chunks.
func measureChunks(o *engine.Options) {
	o.Sizes = chunksize.New(o.Reader.(*cluster.Client), o.Tables.(*topology.Watcher), nil)
}

// fillChunk replaces all documents by n documents of 1,048 bytes in the chunk [0,
// 10). The chunk size is 1 MB, so the server moves at most 2,000 of them at once.
func fillChunk(r *Rig, n int) {
	r.Helper()
	command := func(db string, d bson.D) {
		r.Helper()
		r.Must(must.Err(r.Sim.Command(r.Context(), db, d)))
	}
	command("config", bson.D{{Key: "update", Value: "settings"}, {Key: "updates", Value: bson.A{bson.D{
		{
			Key:   "q",
			Value: bson.D{{Key: "_id", Value: "chunksize"}},
		}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "value", Value: int32(1)}}}}}, {Key: "upsert", Value: true}}}}})
	db, coll := NS.Database(), NS.Collection()
	command(db, bson.D{{Key: "delete", Value: coll},
		{Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 0}}}}})
	empty, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(1)}, {Key: "p", Value: int32(5)}, {Key: "s", Value: ""}})
	r.Must(err)
	var rows bson.A
	for i := range n {
		rows = append(rows, bson.D{{Key: "_id", Value: int32(i)}, {Key: "p", Value: int32(5)},
			{Key: "s", Value: strings.Repeat("x", 1048-len(empty))}})
	}
	command(db, bson.D{{Key: "insert", Value: coll}, {Key: "documents", Value: rows}})
	time.Sleep(2 * time.Minute) // for shards and table to learn the chunk size
	r.Must(must.Err(r.Watcher.Load(r.Context())))
}

func sizeCheck(p actions.Plan) (actions.Verdict, string) {
	c := checkOf(p, "size")
	return c.Verdict, c.Text.Code
}

// The plan predicts what the donor does, on both sides of the limit.
func TestPlanMeasuresTheChunkThatItMoves(t *testing.T) {
	for _, version := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(version, func(t *testing.T) {
			OnRig(t, Setup{Sim: simcluster.Options{ServerVersion: version}, Wrap: measureChunks}, func(r *Rig) {
				move := moveFirstChunk
				fillChunk(r, 2001)
				if v, code := sizeCheck(r.Plan(actions.MoveChunk, move)); v != actions.Block || code != "size.tooMany" {
					t.Errorf("one more than the limit: %s %s", v, code)
				}
				_, err := r.Sim.Command(r.Context(), "admin", bson.D{{Key: "moveChunk", Value: string(NS)},
					{Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-2"}})
				expect.That(t, err != nil && strings.Contains(err.Error(), "Found 2001 documents"), "the donor said %v", err)
				fillChunk(r, 2000)
				p := r.Plan(actions.MoveChunk, move)
				if v, code := sizeCheck(p); v != actions.Pass || code != "size.measured" {
					t.Errorf("at the limit: %s %s", v, code)
				}
				if f := p.Effect.Bytes; f.Value != 2000*1048 || !f.Exact {
					t.Errorf("the plan moves %+v", f)
				}
				_, err = r.Sim.Command(r.Context(), "admin", bson.D{{Key: "moveChunk", Value: string(NS)},
					{Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-2"}})
				r.Must(err)
			})
		})
	}
}

func TestPlanUsesEstimatesWhenMeasuringFails(t *testing.T) {
	for _, x := range []struct {
		name   string
		rule   simcluster.Rule
		reason string
	}{
		{"not permitted", simcluster.Rule{Err: simcluster.Fail(13)}, "notPermitted"},
		{"too slow", simcluster.Rule{Delay: time.Minute}, "tooSlow"},
		{"a shard that does not answer", simcluster.Rule{Err: simcluster.Fail(133)}, "unreachable"},
	} {
		t.Run(x.name, func(t *testing.T) {
			OnRig(t, Setup{Wrap: measureChunks}, func(r *Rig) {
				fillChunk(r, 100)
				x.rule.Command, x.rule.At, x.rule.Times = "dataSize", simcluster.Received, -1
				r.Sim.Faults().Add(x.rule)
				begun := time.Now()
				p := r.planMove()
				if took := time.Since(begun); took > 6*time.Second {
					t.Errorf("the plan took %v", took)
				}
				for _, c := range p.Checks {
					if c.ID == "size" && (c.Verdict != actions.Warn || c.Text.Args()["reason"] != x.reason && c.Text.Code != "size.unknown") {
						t.Errorf("%+v", c)
					}
				}
			})
		})
	}
}

// fakeRecentWrites reports rows written with the values 11, 14 and 18 of p, and no
// writes to any shard except shard-rs-1.
type fakeRecentWrites struct{ asked *int }

func (w fakeRecentWrites) RecentWrites(_ context.Context, t *topology.Table, of []actions.Span) actions.Writes {
	*w.asked++
	out := actions.Writes{At: time.Now(), Shards: map[string]float64{"shard-rs-1": 9}}
	for _, s := range of {
		r := topology.RangeWrites{NS: s.NS, Min: s.Min, Max: s.Max, Method: topology.WritesCounted,
			From: time.Now().Add(-time.Minute), To: time.Now(), InShards: true, Rows: 90, PerSecond: 6}
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
		return must.Get(bson.Marshal(bson.D{{Key: "p", Value: p}}))
	}
	OnRig(t, Setup{Wrap: func(o *engine.Options) { o.Recent = fakeRecentWrites{&asked} }}, func(r *Rig) {
		r.Plan(actions.Split, actions.Args{NS: NS, At: key(5)})
		expect.Equal(r, asked, 0, "a plan that does not depend on writes asked for them")
		p := r.Plan(actions.SplitHot, actions.Args{NS: NS, Bounds: [2]bson.Raw{key(10), key(20)}})
		must.That(r, asked == 1 && len(p.Args.Cuts) == 1, "asked %d times, %+v", asked, p.Checks)
		r.Restart()
		kept, err := r.Engine.PlanByID(r.Context(), p.ID)
		r.Must(err)
		if !slices.EqualFunc(kept.Args.Cuts, p.Args.Cuts, func(a, b actions.Cut) bool {
			return string(a.At) == string(b.At) && string(a.Min) == string(b.Min) && string(a.Max) == string(b.Max) && a.Half == b.Half &&
				a.To == b.To
		}) {
			r.Errorf("kept %+v, made %+v", kept.Args.Cuts, p.Args.Cuts)
		}
		r.succeeds(r.Start(kept).ID)
	})
}

// sampleSize is how often something is tried: with -short, in make test-all, and in make long (SHARDBOARD_LONG=hours).
func sampleSize(short, usual, long int) int {
	switch {
	case testing.Short():
		return short
	case os.Getenv("SHARDBOARD_LONG") == "hours":
		return long
	}
	return usual
}

// seeds is the range of seeds of random tests: as many as usual, or only the one in
// ACTIONS_SEED, to repeat a failure.
func seeds(t *testing.T, usual int) (from, to uint64) {
	t.Helper()
	if one := os.Getenv("ACTIONS_SEED"); one != "" {
		n, err := strconv.ParseUint(one, 10, 64)
		must.That(t, err == nil, "ACTIONS_SEED: %v", err)
		return n, n + 1
	}
	return 1, uint64(usual) + 1
}

// longSeeds is the value of LONG_SEEDS, if set.
func longSeeds(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("LONG_SEEDS")); err == nil && n > 0 {
		return n
	}
	return usual
}

// tally counts events, so that the log shows when a test did nothing.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (t *tally) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]int{}
	}
	t.of[what]++
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprint(t.of)
}
