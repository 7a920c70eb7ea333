package enginetest

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// Admin runs a command of another operator, past the engine and the network.
func (r *Rig) Admin(cmd bson.D) {
	r.Helper()
	_, err := r.Sim.Command(context.Background(), "admin", cmd)
	r.Must(err)
}

// tryCommand runs a command of another client and ignores the result.
func (r *Rig) tryCommand(db string, cmd bson.D) { _, _ = r.Sim.Command(context.Background(), db, cmd) }

// moveByOther moves [lo, hi) of NS as another operator and leaves orphaned
// documents.
func (r *Rig) moveByOther(lo, hi int, to string) {
	r.Helper()
	r.Admin(bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(lo), P(hi)}}, {Key: "to", Value: to}})
}

// moveByOtherCleanly is moveByOther without orphaned documents.
func (r *Rig) moveByOtherCleanly(lo, hi int, to string) {
	r.Helper()
	r.Admin(bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(lo), P(hi)}}, {Key: "to", Value: to},
		{Key: "_waitForDelete", Value: true}})
}

// moveByOtherOverNetwork is moveByOther over a connection of its own, where faults
// apply.
func (r *Rig) moveByOtherOverNetwork(lo, hi int, to string) {
	r.Helper()
	uri := must.Get(cluster.ParseURI(simcluster.URI()))
	c, err := cluster.Connect(context.Background(), uri, cluster.Options{Dialer: r.Sim})
	r.Must(err)
	defer func() { _ = c.Close(context.Background()) }()
	r.Must(change.Send(context.Background(), c, "", operation.Step{Op: operation.OpMove, NS: NS, Min: P(lo), Max: P(hi), Shard: to}))
}

func (r *Rig) moveAwayAndBack() {
	for _, to := range []string{"shard-rs-3", "shard-rs-1"} {
		r.moveByOtherCleanly(0, 10, to)
	}
}

func (r *Rig) recreateCollection() {
	r.tryCommand("app", bson.D{{Key: "drop", Value: "users"}})
	r.users()
}

// setJumboFlag sets or removes the jumbo flag of the chunk [0, 10) as the balancer
// does: without a new version.
func (r *Rig) setJumboFlag(on bool) {
	r.Helper()
	change := bson.D{{Key: "$set", Value: bson.D{{Key: "jumbo", Value: true}}}}
	if !on {
		change = bson.D{{Key: "$unset", Value: bson.D{{Key: "jumbo", Value: ""}}}}
	}
	_, err := r.Sim.Command(r.Context(), "config", bson.D{{Key: "update", Value: "chunks"}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: "min", Value: P(0)}}}, {Key: "u", Value: change}}}}})
	r.Must(err)
}
