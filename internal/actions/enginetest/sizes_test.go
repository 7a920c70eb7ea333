package enginetest

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/chunksize"
	"shardboard/internal/cluster"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// measuring lets the engine measure chunks.
func measuring(o *engine.Options) {
	o.Sizes = chunksize.New(o.Reader.(*cluster.Client), o.Tables.(*topology.Watcher), nil)
}

// fill puts n documents of 1,048 bytes into the chunk [0, 10), and takes what
// there was more. The chunk size is 1 MB, so that 2,000 are moved at once.
func fill(r *Rig, n int) {
	r.Helper()
	command := func(db string, d bson.D) {
		r.Helper()
		_, err := r.Sim.Command(r.Context(), db, d)
		r.Must(err)
	}
	command("config", bson.D{{Key: "update", Value: "settings"}, {Key: "updates", Value: bson.A{bson.D{
		{
			Key:   "q",
			Value: bson.D{{Key: "_id", Value: "chunksize"}},
		}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "value", Value: int32(1)}}}}}, {Key: "upsert", Value: true}}}}})
	db, coll := NS.Database(), NS.Collection()
	command(
		db,
		bson.D{{Key: "delete", Value: coll}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 0}}}}},
	)
	empty, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(1)}, {Key: "p", Value: int32(5)}, {Key: "s", Value: ""}})
	r.Must(err)
	var rows bson.A
	for i := range n {
		rows = append(
			rows,
			bson.D{{Key: "_id", Value: int32(i)}, {Key: "p", Value: int32(5)}, {Key: "s", Value: strings.Repeat("x", 1048-len(empty))}},
		)
	}
	command(db, bson.D{{Key: "insert", Value: coll}, {Key: "documents", Value: rows}})
	time.Sleep(2 * time.Minute) // the shards learn of the chunk size, and the table of it
	_, err = r.Watcher.Load(r.Context())
	r.Must(err)
}

func sizeCheck(p actions.Plan) (actions.Verdict, string) {
	c := checkOf(p, "size")
	return c.Verdict, c.Text.Code
}

// A plan says of a chunk what the donor then does, on both sides of the limit.
func TestAPlanMeasuresWhatItMoves(t *testing.T) {
	for _, version := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(version, func(t *testing.T) {
			OnRig(t, Setup{Sim: simcluster.Options{ServerVersion: version}, Wrap: measuring}, func(r *Rig) {
				move := actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2"}
				fill(r, 2001)
				if v, code := sizeCheck(r.Plan(actions.MoveChunk, move)); v != actions.Block || code != "size.tooMany" {
					t.Errorf("one more than the limit: %s %s", v, code)
				}
				_, err := r.Sim.Command(
					r.Context(),
					"admin",
					bson.D{{Key: "moveChunk", Value: string(NS)}, {Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-2"}},
				)
				if err == nil || !strings.Contains(err.Error(), "Found 2001 documents") {
					t.Errorf("the donor said %v", err)
				}
				fill(r, 2000)
				p := r.Plan(actions.MoveChunk, move)
				if v, code := sizeCheck(p); v != actions.Pass || code != "size.measured" {
					t.Errorf("at the limit: %s %s", v, code)
				}
				if f := p.Effect.Bytes; f.Value != 2000*1048 || !f.Exact {
					t.Errorf("the plan moves %+v", f)
				}
				_, err = r.Sim.Command(
					r.Context(),
					"admin",
					bson.D{{Key: "moveChunk", Value: string(NS)}, {Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-2"}},
				)
				r.Must(err)
			})
		})
	}
}

func TestAPlanIsMadeFromEstimatesWhenMeasuringFails(t *testing.T) {
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
			OnRig(t, Setup{Wrap: measuring}, func(r *Rig) {
				fill(r, 100)
				x.rule.Command, x.rule.At, x.rule.Times = "dataSize", simcluster.Received, -1
				r.Sim.Faults().Add(x.rule)
				begun := time.Now()
				p := r.Plan(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2"})
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
