package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/chunksize"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/lab/growth"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// growthCase is a cluster and what the planner is asked about it.
type growthCase struct {
	layout, release string
	empty           []string // shards that have no chunks when the plan is made
	query           trying.GrowthQuery
	seed            int64
}

func (c growthCase) name() string {
	return fmt.Sprintf("%s on %s, %d empty, empties %q by %s, seed %d", c.layout, c.release, len(c.empty), c.query.Empty, c.query.Measure,
		c.seed)
}

// growthCases are ranged and hashed layouts on three shards: two join, or one is emptied.
func growthCases() (out []growthCase) {
	joined, left := []string{"shard-rs-4", "shard-rs-5"}, "shard-rs-3"
	if os.Getenv("SHARDBOARD_LONG") == "" {
		return []growthCase{
			{"yorkie-0.4", "5.0", joined, trying.GrowthQuery{Measure: growth.ByBytes}, 7},
			{"yorkie-head", "7.0", nil, trying.GrowthQuery{Empty: left, Measure: growth.ByChunks}, 7},
		}
	}
	seeds := sampleSize(1, 1, 3)
	for _, layout := range []string{"yorkie-0.4", "yorkie-0.6.38", "yorkie-head"} {
		for _, release := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
			for seed := range int64(seeds) {
				for _, measure := range []growth.Measure{growth.ByBytes, growth.ByChunks} {
					out = append(out, growthCase{layout, release, joined, trying.GrowthQuery{Measure: measure}, 7 + seed},
						growthCase{layout, release, nil, trying.GrowthQuery{Empty: left, Measure: measure}, 7 + seed})
				}
			}
		}
	}
	return out
}

// The moves of a prediction are run as the batch that the planner offers, and the cluster becomes what was predicted.
func TestClusterBecomesWhatTheGrowthPlannerPredicts(t *testing.T) {
	for _, x := range growthCases() {
		t.Run(x.name(), func(t *testing.T) {
			sim := simcluster.Options{Shards: 3 + len(x.empty), Projects: 12, Documents: 600, Still: true, Layout: x.layout, Seed: x.seed,
				ServerVersion: x.release}
			OnRig(t, Setup{Sim: sim}, func(r *Rig) { r.checkGrowth(x) })
		})
	}
}

func (r *Rig) checkGrowth(x growthCase) {
	r.Helper()
	for _, shard := range x.empty {
		r.evacuate(shard)
	}
	book := r.measureAll()
	v := answer.View{Table: r.Watcher.Table(), Dir: r.Keeper.Directory(), Profile: profile.Yorkie(), Now: time.Now(), Sizes: book}
	q := x.query
	q.Group, q.PerShard, q.Fill, q.Limit = 20, 1, 80, 100_000
	predicted, err := trying.LabGrowth(v, q)
	r.Must(err)
	batch, err := trying.GrowthBatchOf(v, q)
	r.Must(err)
	must.That(r, predicted.Moves != 0 && batch.Why == "" && batch.Items == predicted.Moves,
		"%d moves, a batch of %d: %s", predicted.Moves, batch.Items, batch.Why)
	raw, err := json.Marshal(map[string]any{"plans": json.RawMessage(batch.Plans), "group": batch.Group, "perShard": batch.PerShard})
	r.Must(err)
	args, err := actions.ReadArgs(raw)
	r.Must(err)
	began := time.Now()
	run := r.WaitLongEnd(r.Start(r.Plan(actions.Batch, args)).ID)
	must.That(r, run.State == engine.Succeeded && run.Batch.Done == predicted.Moves,
		"%s %v: %+v", run.State, run.Why, run.Batch)
	time.Sleep(20 * time.Minute) // until the sources have deleted what moved
	after := r.readAll()
	r.checkGrown(predicted, after)
	if copied := copiedSince(after, began); diff(copied, *predicted.Bytes.Value) > *predicted.Bytes.Value/20 {
		r.Errorf("%d bytes were copied, predicted were %d", copied, *predicted.Bytes.Value)
	}
}

// checkGrown compares chunks and bytes of each shard.
func (r *Rig) checkGrown(predicted api.LabGrowth, after *topology.Table) {
	r.Helper()
	chunks, bytes := map[string]int{}, map[string]int64{}
	for _, c := range after.Collections {
		if topology.IsInternal(c.NS) || c.Unsplittable {
			continue
		}
		for shard, n := range c.Chunks.CountByShard() {
			chunks[shard] += n
		}
	}
	for ns := range answer.Namespaces(after) {
		if !topology.IsInternal(ns) {
			for _, s := range after.Shards {
				bytes[s.Name] += after.SizeOn(ns, s.Name).Bytes.Value
			}
		}
	}
	largest := int64(0)
	for _, m := range predicted.Items {
		largest = max(largest, *m.Bytes.Value)
	}
	for _, s := range predicted.Shards {
		expect.That(r, chunks[s.Shard] == s.ChunksAfter,
			"%s has %d chunks, predicted were %d", s.Shard, chunks[s.Shard], s.ChunksAfter)
		if diff(bytes[s.Shard], *s.After.Value) > largest {
			r.Errorf("%s has %d bytes, predicted were %d; the largest chunk that moved has %d", s.Shard, bytes[s.Shard],
				*s.After.Value, largest)
		}
	}
}

func diff(a, b int64) int64 { return max(a-b, b-a) }

// evacuate moves all chunks away from a shard, as if it had just joined.
func (r *Rig) evacuate(shard string) {
	r.Helper()
	n := 0
	for _, c := range r.Watcher.Table().Collections {
		if topology.IsInternal(c.NS) {
			continue
		}
		for _, ch := range c.Chunks.All() {
			if ch.Shard != shard {
				continue
			}
			min := must.Get(c.Key.Document(ch.Min))
			max := must.Get(c.Key.Document(ch.Max))
			to := fmt.Sprintf("shard-rs-%d", 1+n%3)
			r.Must(change.Send(r.Context(), r.Client, "", operation.Step{Op: operation.OpMove, NS: c.NS, Min: min, Max: max, Shard: to, Wait: true}))
			n++
		}
	}
	r.readAll()
}

// readAll reads routing and sizes again.
func (r *Rig) readAll() *topology.Table {
	r.Helper()
	r.Must(must.Err(r.Watcher.Load(r.Context())))
	r.Watcher.LoadSizes(r.Context())
	return r.Watcher.Table()
}

// measureAll measures every chunk, so that its size is known.
func (r *Rig) measureAll() *chunksize.Book {
	r.Helper()
	t := r.readAll()
	book := chunksize.New(r.Client, r.Watcher, nil)
	for _, c := range t.Collections {
		if topology.IsInternal(c.NS) || c.Unsplittable {
			continue
		}
		for _, ch := range c.Chunks.All() {
			r.Must(must.Err(book.Measure(r.Context(), c, shardkey.Range{Min: ch.Min, Max: ch.Max}, true)))
			time.Sleep(time.Minute / chunksize.DemandPerMinute)
		}
	}
	return book
}

// copiedSince adds up what migrations copied, by the server's log.
func copiedSince(t *topology.Table, from time.Time) (bytes int64) {
	events := slices.DeleteFunc(slices.Clone(t.Events), func(e topology.Event) bool {
		return e.What != "moveChunk.commit" || e.Time.Before(from)
	})
	for _, e := range events {
		copied, _ := e.Details.Lookup("counts", "clonedBytes").AsInt64OK()
		bytes += copied
	}
	return bytes
}

const documents topology.Namespace = "yorkie-meta.documents"

func onYorkie04(t *testing.T, release string, test func(r *Rig, project bson.ObjectID)) {
	s := Setup{Sim: simcluster.Options{Projects: 6, Documents: 600, Still: true, Layout: "yorkie-0.4", ServerVersion: release},
		Wrap: countRows}
	OnRig(t, s, func(r *Rig) {
		var busiest bson.ObjectID
		most := int64(0)
		for _, p := range r.Keeper.Directory().All() {
			if n := r.countDocuments(p.ID); n > most {
				busiest, most = p.ID, n
			}
		}
		test(r, busiest)
	})
}

func (r *Rig) countDocuments(project bson.ObjectID) int64 {
	r.Helper()
	reply, err := r.Sim.Command(context.Background(), "yorkie-meta", bson.D{{Key: "aggregate", Value: "documents"}, {Key: "pipeline",
		Value: bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "project_id", Value: project}}}}, bson.D{{Key: "$count", Value: "n"}}}},
		{Key: "cursor", Value: bson.D{}}})
	r.Must(err)
	n, _ := reply.Lookup("cursor", "firstBatch", "0", "n").AsInt64OK()
	return n
}

func (r *Rig) succeed(kind actions.Kind, a actions.Args) engine.Run {
	r.Helper()
	p := r.Plan(kind, a)
	must.That(r, !p.Blocked(), "%s is blocked: %+v", kind, p.Checks)
	run := r.succeeds(r.Start(p).ID)
	r.CheckSentOnce(run)
	return run
}

// A project of Yorkie 0.4 is one value of the shard key. After refining, it is divided.
func TestHotProjectOfYorkie04IsRefinedSplitAndSpread(t *testing.T) {
	for _, release := range []string{"7.0", "8.0"} {
		if release == "7.0" || !testing.Short() {
			t.Run(release, func(t *testing.T) { onYorkie04(t, release, refineSplitAndSpread) })
		}
	}
}

func refineSplitAndSpread(r *Rig, project bson.ObjectID) {
	before := r.countDocuments(project)
	ofProject := actions.Args{Project: project.Hex(), NS: documents}

	// Another project is pinned, so that its zone is rewritten too.
	other := r.Keeper.Directory().All()[0].ID
	if other == project {
		other = r.Keeper.Directory().All()[1].ID
	}
	r.succeed(actions.Pin, actions.Args{Project: other.Hex(), Shard: "shard-rs-2"})

	// Found hot and alone: nothing divides it.
	if p := r.Plan(actions.SplitProject, ofProject); !p.Blocked() {
		r.WaitEnd(r.Start(p).ID)
	}
	if p := r.Plan(actions.SplitProject, ofProject); !p.Blocked() {
		r.Fatalf("a project of one value is to be split: %v", p.Commands)
	}

	run := r.succeed(actions.RefineKey, actions.Args{NS: documents, Key: pattern("project_id", "key")})
	expect.Equal(r, run.Steps[0].Proven[0].Got["key"], "{project_id: 1, key: 1}", "proven by %+v", run.Steps[0].Proven)
	c := r.Watcher.Table().Collection(documents)
	must.That(r, c.Key.String() == "{project_id: 1, key: 1}" && c.Chunks.At(1).Min.Compare(c.Chunks.At(0).Max) == 0,
		"the table has %s", c.Key)
	for _, z := range r.Watcher.Table().ZonesOf(documents) {
		expect.That(r, !z.Min.IsZero() && z.RawMin.Lookup("key").Type != 0,
			"the zone range %s does not fit the key", z.RawMin)
	}
	r.succeed(actions.Unpin, actions.Args{Project: other.Hex()})
	expect.That(r, must.Err(r.Engine.Undo(r.Context(), Anna, run.ID, "")) != nil, "a refined key can be undone")
	if p := r.Plan(actions.RefineKey, actions.Args{NS: documents, Key: pattern("project_id", "key")}); !p.Blocked() || len(p.Commands) > 0 {
		r.Errorf("refined twice: %v", p.Commands)
	}

	for range 2 {
		r.succeed(actions.SplitProject, ofProject)
	}
	r.succeed(actions.Spread, actions.Args{Project: project.Hex()})
	shards := map[string]int{}
	c = r.Watcher.Table().Collection(documents)
	for _, ch := range c.Chunks.All() {
		lo := must.Get(c.Key.Values(ch.Min))
		if id, ok := lo[0].ObjectIDOK(); ok && id == project {
			shards[ch.Shard]++
		}
	}
	expect.Equal(r, len(shards), 3, "shards of the project's chunks: %v", shards)
	expect.Equal(r, r.countDocuments(project), before, "documents")
}

func pattern(fields ...string) bson.Raw {
	var d bson.D
	for _, f := range fields {
		d = append(d, bson.E{Key: f, Value: int32(1)})
	}
	return must.Get(bson.Marshal(d))
}
