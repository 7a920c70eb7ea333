package enginetest

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const documents topology.Namespace = "yorkie-meta.documents"

func onYorkie04(t *testing.T, release string, test func(r *Rig, project bson.ObjectID)) {
	s := Setup{Sim: simcluster.Options{Projects: 6, Documents: 600, Still: true, Layout: "yorkie-0.4", ServerVersion: release},
		Wrap: func(o *engine.Options) { o.Counter = o.Reader.(operation.Counter) }}
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
	if p.Blocked() {
		r.Fatalf("%s is blocked: %+v", kind, p.Checks)
	}
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
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err) // numbers
	}
	return raw
}
