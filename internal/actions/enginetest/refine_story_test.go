package enginetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const documents topology.Namespace = "yorkie-meta.documents"

func onYorkie04(t *testing.T, release string, test func(r *Rig, project bson.ObjectID)) {
	s := Setup{Sim: simcluster.Options{Projects: 6, Documents: 600, Still: true, Layout: "yorkie-0.4", ServerVersion: release},
		Wrap: func(o *engine.Options) { o.Counter = o.Reader.(actions.Counter) }}
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

// yorkieWriter writes documents of a project with Yorkie's three kinds of commands, until
// stop is called.
type yorkieWriter struct {
	sim     *simcluster.Cluster
	project bson.ObjectID
	done    chan struct{}
	ended   sync.WaitGroup

	created, changed int64
	ids              []bson.ObjectID
	failed           []error
}

func (r *Rig) startYorkie(project bson.ObjectID) *yorkieWriter {
	w := &yorkieWriter{sim: r.Sim, project: project, done: make(chan struct{})}
	w.ended.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-w.done:
				return
			case <-time.After(50 * time.Millisecond):
				w.write(n)
			}
		}
	})
	return w
}

func (w *yorkieWriter) stop() {
	close(w.done)
	w.ended.Wait()
}

func (w *yorkieWriter) write(n int) {
	key := string(rune('a'+n%26)) + bson.NewObjectID().Hex() // over the whole range of keys
	reply, err := w.command(bson.D{{Key: "findAndModify", Value: "documents"}, {Key: "new", Value: true}, {Key: "upsert", Value: true},
		{Key: "query", Value: bson.D{{Key: "project_id", Value: w.project}, {Key: "key", Value: key},
			{Key: "removed_at", Value: bson.D{{Key: "$exists", Value: false}}}}},
		{Key: "update", Value: bson.D{{Key: "$setOnInsert", Value: bson.D{{Key: "server_seq", Value: 0}}}}}})
	if err != nil {
		return
	}
	w.created++
	id := reply.Lookup("value", "_id").ObjectID()
	w.ids = append(w.ids, id)
	old := w.ids[n%len(w.ids)]
	ref := bson.D{{Key: "project_id", Value: w.project}, {Key: "_id", Value: old}}
	push := bson.D{{Key: "q", Value: ref}, {Key: "u", Value: bson.D{{Key: "$inc", Value: bson.D{{Key: "server_seq", Value: 1}}}}}}
	if reply, err := w.command(bson.D{{Key: "update", Value: "documents"}, {Key: "updates", Value: bson.A{push}}}); err == nil {
		matched, _ := reply.Lookup("n").AsInt64OK()
		w.changed += matched
	}
	reply, err = w.command(bson.D{{Key: "findAndModify", Value: "documents"}, {Key: "new", Value: true}, {Key: "query", Value: ref},
		{Key: "update", Value: bson.D{{Key: "$inc", Value: bson.D{{Key: "server_seq", Value: 1}}}}}})
	if err == nil && reply.Lookup("value", "_id").Type == bson.TypeObjectID {
		w.changed++
	}
}

func (w *yorkieWriter) command(cmd bson.D) (bson.Raw, error) {
	reply, err := w.sim.Command(context.Background(), "yorkie-meta", cmd)
	if err != nil {
		w.failed = append(w.failed, err)
	}
	return reply, err
}

// checkNothingLost compares the documents of the project with what was written.
func (r *Rig) checkNothingLost(w *yorkieWriter, before int64) {
	r.Helper()
	if len(w.failed) > 0 {
		r.Errorf("%d writes failed, such as %v", len(w.failed), w.failed[0])
	}
	if w.created == 0 || w.changed != 2*w.created {
		r.Errorf("%d documents were created and %d changes made, want twice as many", w.created, w.changed)
	}
	if n := r.countDocuments(w.project); n != before+w.created {
		r.Errorf("%d documents, then %d were created, now there are %d", before, w.created, n)
	}
	written := bson.D{{Key: "project_id", Value: w.project}, {Key: "_id", Value: bson.D{{Key: "$in", Value: w.ids}}}}
	sum := bson.D{{Key: "_id", Value: nil}, {Key: "n", Value: bson.D{{Key: "$sum", Value: "$server_seq"}}}}
	reply, err := r.Sim.Command(context.Background(), "yorkie-meta", bson.D{{Key: "aggregate", Value: "documents"},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: written}}, bson.D{{Key: "$group", Value: sum}}}},
		{Key: "cursor", Value: bson.D{}}})
	r.Must(err)
	if n, _ := reply.Lookup("cursor", "firstBatch", "0", "n").AsInt64OK(); n != w.changed {
		r.Errorf("%d changes were made, the documents have %d", w.changed, n)
	}
}

func (r *Rig) succeed(kind actions.Kind, a actions.Args) engine.Run {
	r.Helper()
	p := r.Plan(kind, a)
	if p.Blocked() {
		r.Fatalf("%s is blocked: %+v", kind, p.Checks)
	}
	run := r.WaitEnd(r.Start(p).ID)
	if run.State != engine.Succeeded {
		r.Fatalf("%s: %s %v: %+v", kind, run.State, run.Why, run.Steps)
	}
	r.CheckSentOnce(run)
	return run
}

// A project of Yorkie 0.4 is one value of the shard key. After refining, it is divided
// while Yorkie writes.
func TestHotProjectOfYorkie04IsRefinedSplitAndSpread(t *testing.T) {
	for _, release := range []string{"7.0", "8.0"} {
		if release == "7.0" || !testing.Short() {
			t.Run(release, func(t *testing.T) { onYorkie04(t, release, refineSplitAndSpread) })
		}
	}
}

func refineSplitAndSpread(r *Rig, project bson.ObjectID) {
	before := r.countDocuments(project)
	w := r.startYorkie(project)
	stopped := sync.OnceFunc(w.stop)
	defer stopped()
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
	if run.Steps[0].Proven[0].Got["key"] != "{project_id: 1, key: 1}" {
		r.Errorf("proven by %+v", run.Steps[0].Proven)
	}
	c := r.Watcher.Table().Collection(documents)
	if c.Key.String() != "{project_id: 1, key: 1}" || c.Chunks.At(1).Min.Compare(c.Chunks.At(0).Max) != 0 {
		r.Fatalf("the table has %s", c.Key)
	}
	for _, z := range r.Watcher.Table().ZonesOf(documents) {
		if z.Min.IsZero() || z.RawMin.Lookup("key").Type == 0 {
			r.Errorf("the zone range %s does not fit the key", z.RawMin)
		}
	}
	r.succeed(actions.Unpin, actions.Args{Project: other.Hex()})
	if _, err := r.Engine.Undo(r.Context(), Anna, run.ID, ""); err == nil {
		r.Error("a refined key can be undone")
	}
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
		lo, err := c.Key.Values(ch.Min)
		r.Must(err)
		if id, ok := lo[0].ObjectIDOK(); ok && id == project {
			shards[ch.Shard]++
		}
	}
	if len(shards) != 3 {
		r.Errorf("the project's chunks are on %v, want all three shards", shards)
	}
	time.Sleep(2 * time.Second)
	stopped()
	r.checkNothingLost(w, before)
}

// Before 7.0, Yorkie's findAndModify by id would fail.
func TestRefiningYorkiesDocumentsIsBlockedBefore70(t *testing.T) {
	onYorkie04(t, "5.0", func(r *Rig, project bson.ObjectID) {
		p := r.Plan(actions.RefineKey, actions.Args{NS: documents, Key: pattern("project_id", "key")})
		i := slices.IndexFunc(p.Checks, func(c actions.Check) bool { return c.ID == "application" })
		if i < 0 || p.Checks[i].Verdict != actions.Block || p.Checks[i].Text.Code != "application.refused" {
			r.Errorf("checks %+v", p.Checks)
		}
		if _, _, err := r.RunPlan(Anna, p); err == nil {
			r.Error("it runs")
		}
		// The block is right: the server refuses the command afterwards.
		r.Admin(bson.D{{Key: "refineCollectionShardKey", Value: documents}, {Key: "key", Value: pattern("project_id", "key")}})
		w := &yorkieWriter{sim: r.Sim, project: project}
		w.write(0)
		if len(w.failed) != 1 {
			r.Errorf("failed: %v", w.failed)
		}
	})
}

func pattern(fields ...string) bson.Raw {
	var d bson.D
	for _, f := range fields {
		d = append(d, bson.E{Key: f, Value: int32(1)})
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err) // numbers
	}
	return raw
}
