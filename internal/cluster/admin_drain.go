package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

const removeShardPrivilege = "removeShard on the cluster"

// firstWithDrainCommands is the first release with startShardDraining, stopShardDraining
// and commitShardRemoval.
var firstWithDrainCommands = [3]int{8, 3, 0}

func (c *Client) hasDrainCommands(ctx context.Context) (bool, error) {
	release, err := c.release(ctx)
	return release.atLeast(firstWithDrainCommands[0], firstWithDrainCommands[1], firstWithDrainCommands[2]), err
}

// BeginRemoval begins to drain a shard with the first removeShard. The answer tells
// whether the command did that: the same command removes a shard that drains already and
// is empty.
func (c *Client) BeginRemoval(ctx context.Context, run, shard string) error {
	state, _, err := c.removeShard(ctx, run, shard, "drain the shard")
	switch {
	case err != nil || state == "started":
		return err
	case state == "completed":
		return fault.New(fault.Conflict, "The shard was removed: somebody else began to drain %s a moment before, and it was empty.",
			quoted(shard))
	case state == "ongoing":
		return fault.New(fault.Conflict, "Nothing was changed: somebody else began to drain %s a moment before.", quoted(shard))
	}
	return oddRemoval(state)
}

// StartDraining begins to drain a shard; 8.3 and later.
func (c *Client) StartDraining(ctx context.Context, run, shard string) error {
	return c.admin(ctx, run, bson.D{{Key: "startShardDraining", Value: shard}},
		action{what: "drain the shard", privilege: removeShardPrivilege})
}

// StopDraining ends the draining of a shard; 8.3 and later.
func (c *Client) StopDraining(ctx context.Context, run, shard string) error {
	return c.admin(ctx, run, bson.D{{Key: "stopShardDraining", Value: shard}},
		action{what: "end the draining of the shard", privilege: removeShardPrivilege})
}

// RemoveShard removes an empty shard. The last removeShard answers "completed"; any other
// answer means that the shard is still there.
func (c *Client) RemoveShard(ctx context.Context, run, shard string) error {
	newer, err := c.hasDrainCommands(ctx)
	if err != nil {
		return err
	}
	if newer {
		return c.admin(ctx, run, bson.D{{Key: "commitShardRemoval", Value: shard}},
			action{what: "remove the shard", privilege: removeShardPrivilege})
	}
	state, reply, err := c.removeShard(ctx, run, shard, "remove the shard")
	switch {
	case err != nil || state == "completed":
		return err
	case state == "started":
		return fault.New(fault.Conflict, "The shard was not removed: it was not draining, and this command has begun to drain it.")
	case state == "ongoing":
		left := func(name string) any { return countText(reply.Lookup("remaining", name)) }
		return fault.New(fault.Conflict, "The shard was not removed, because something is left on it: %v chunks (%v jumbo), %v databases.",
			left("chunks"), left("jumboChunks"), left("dbs"))
	}
	return oddRemoval(state)
}

// removeShard sends the command once and returns the state that it answers.
func (c *Client) removeShard(ctx context.Context, run, shard, what string) (state string, reply bson.Raw, err error) {
	reply, err = c.command(ctx, run, "admin", bson.D{{Key: "removeShard", Value: shard}}, action{what: what, privilege: removeShardPrivilege})
	if err != nil {
		return "", nil, err
	}
	state, _ = reply.Lookup("state").StringValueOK()
	return state, reply, nil
}

// oddRemoval is the error for an answer that is not understood; what the command did has
// to be read.
func oddRemoval(state string) error {
	return fault.New(fault.UnknownOutcome, "The cluster answered removeShard with the state %s, which is not understood.", quoted(state))
}
