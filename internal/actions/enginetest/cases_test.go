package enginetest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/simcluster"
)

// Case is one command that the engine can send, with all that leads to it.
type Case struct {
	Name    string
	Release string // "" is 5.0
	Command string // its name at the wire
	Before  func(*Rig)
	Kind    actions.Kind
	Args    actions.Args
	NoUndo  bool // there is no way back
}

// Setup is the rig of a case.
func (c Case) Setup() Setup {
	return Setup{Sim: simcluster.Options{ServerVersion: c.Release}}
}

// Plan makes the case's world and its plan.
func (c Case) Plan(r *Rig) actions.Plan {
	r.Helper()
	if c.Before != nil {
		c.Before(r)
	}
	return r.Plan(c.Kind, c.Args)
}

func zone(shard, name string) func(*Rig) {
	return func(r *Rig) {
		r.Admin(bson.D{{Key: "addShardToZone", Value: shard}, {Key: "zone", Value: name}})
	}
}

// rows fills the chunk [10, 20), so that it has a middle.
func rows(r *Rig) {
	var docs bson.A
	for i := range 400 {
		docs = append(
			docs,
			bson.D{{Key: "_id", Value: i}, {Key: "p", Value: 10 + float64(i)/100}, {Key: "text", Value: string(make([]byte, 100))}},
		)
	}
	_, err := r.Sim.Command(r.Context(), "app", bson.D{{Key: "insert", Value: "users"}, {Key: "documents", Value: docs}})
	r.Must(err)
}

// jumbo flags the chunk [0, 10).
func jumbo(r *Rig) {
	_, err := r.Sim.Command(r.Context(), "config", bson.D{{Key: "update", Value: "chunks"}, {Key: "updates", Value: bson.A{bson.D{
		{
			Key:   "q",
			Value: bson.D{{Key: "min", Value: P(0)}},
		}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "jumbo", Value: true}}}}}}}}})
	r.Must(err)
	r.Restart() // a flag bumps no version: only a new table shows it at once
}

var no = new(bool)

// Cases are one for every command.
func Cases() []Case {
	chunk := [2]bson.Raw{P(0), P(10)}
	return []Case{
		{Name: "split at a key", Command: "split", Kind: actions.Split, Args: actions.Args{NS: NS, At: P(5)}},
		{
			Name:    "split in the middle",
			Command: "split",
			Before:  rows,
			Kind:    actions.Split,
			Args:    actions.Args{NS: NS, Bounds: [2]bson.Raw{P(10), P(20)}},
		},
		{Name: "merge", Command: "mergeChunks", Kind: actions.Merge, Args: actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(20)}}},
		{Name: "move", Command: "moveChunk", Kind: actions.MoveChunk, Args: actions.Args{NS: NS, Bounds: chunk, To: "shard-rs-2"}},
		{
			Name:    "move a range",
			Release: "7.0",
			Command: "moveRange",
			Kind:    actions.MoveChunk,
			Args:    actions.Args{NS: NS, Bounds: chunk, To: "shard-rs-2"},
		},
		{Name: "move a part", Release: "6.0", Command: "moveRange", Kind: actions.MoveChunk,
			Args: actions.Args{NS: NS, Bounds: chunk, Min: P(2), Max: P(4), To: "shard-rs-2"}},
		{
			Name:    "clear jumbo",
			Command: "clearJumboFlag",
			Before:  jumbo,
			Kind:    actions.ClearJumbo,
			Args:    actions.Args{NS: NS, Bounds: chunk},
			NoUndo:  true,
		},
		{Name: "zone, add shard", Command: "addShardToZone", Kind: actions.ZoneAddShard, Args: actions.Args{Shard: "shard-rs-2", Zone: "eu"}},
		{Name: "zone, remove shard", Command: "removeShardFromZone", Before: zone("shard-rs-2", "eu"), Kind: actions.ZoneRemoveShard,
			Args: actions.Args{Shard: "shard-rs-2", Zone: "eu"}},
		{Name: "zone, set range", Command: "updateZoneKeyRange", Before: zone("shard-rs-1", "eu"), Kind: actions.ZoneSetRange,
			Args: actions.Args{NS: NS, Zone: "eu", Min: P(0), Max: P(10)}},
		{
			Name:    "zone, remove range",
			Command: "updateZoneKeyRange",
			Kind:    actions.ZoneRemoveRange,
			Args:    actions.Args{NS: NS, Zone: "eu", Min: P(0), Max: P(10)},
			Before: func(r *Rig) {
				zone("shard-rs-1", "eu")(r)
				r.Admin(
					bson.D{{Key: "updateZoneKeyRange", Value: NS}, {Key: "min", Value: P(0)}, {Key: "max", Value: P(10)}, {Key: "zone", Value: "eu"}},
				)
			},
		},
		{Name: "balancer on", Command: "balancerStart", Kind: actions.BalancerOn},
		{
			Name:    "balancer off",
			Command: "balancerStop",
			Kind:    actions.BalancerOff,
			Before:  func(r *Rig) { r.Admin(bson.D{{Key: "balancerStart", Value: 1}}) },
		},
		{Name: "balancer window", Command: "update", Kind: actions.BalancerWindow, Args: actions.Args{Start: "01:00", Stop: "05:00"}},
		{Name: "balancing of a collection", Command: "update", Kind: actions.BalanceCollection, Args: actions.Args{NS: NS, On: no}},
		{
			Name:    "balancing of a collection, by command",
			Release: "8.0.12",
			Command: "configureCollectionBalancing",
			Kind:    actions.BalanceCollection,
			Args:    actions.Args{NS: NS, On: no},
		},
	}
}
