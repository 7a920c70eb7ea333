package enginetest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/chunksize"
	"shardboard/internal/fixture/change"
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
	if predicted.Moves == 0 || batch.Why != "" || batch.Items != predicted.Moves {
		r.Fatalf("%d moves, a batch of %d: %s", predicted.Moves, batch.Items, batch.Why)
	}
	raw, err := json.Marshal(map[string]any{"plans": json.RawMessage(batch.Plans), "group": batch.Group, "perShard": batch.PerShard})
	r.Must(err)
	args, err := actions.ReadArgs(raw)
	r.Must(err)
	began := time.Now()
	run := r.WaitLongEnd(r.Start(r.Plan(actions.Batch, args)).ID)
	if run.State != engine.Succeeded || run.Batch.Done != predicted.Moves {
		r.Fatalf("%s %v: %+v", run.State, run.Why, run.Batch)
	}
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
		if chunks[s.Shard] != s.ChunksAfter {
			r.Errorf("%s has %d chunks, predicted were %d", s.Shard, chunks[s.Shard], s.ChunksAfter)
		}
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
	_, err := r.Watcher.Load(r.Context())
	r.Must(err)
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
			_, err := book.Measure(r.Context(), c, shardkey.Range{Min: ch.Min, Max: ch.Max}, true)
			r.Must(err)
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
