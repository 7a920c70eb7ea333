package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// balancerRounds is the state shown by balancerStatus.
type balancerRounds struct {
	count int64
	done  chan struct{} // closed when the running round ends; nil between rounds
}

// BeginRound marks a balancer round as running. The caller holds Mu for writing.
func (c *Cluster) BeginRound() {
	c.rounds.count++
	c.rounds.done = make(chan struct{})
}

// EndRound marks the round as ended, which unblocks balancerStop. The caller holds Mu
// for writing.
func (c *Cluster) EndRound() {
	if c.rounds.done != nil {
		close(c.rounds.done)
		c.rounds.done = nil
	}
}

// RoundDone is closed when the running round ends; it is nil between rounds. The caller
// holds Mu.
func (c *Cluster) RoundDone() <-chan struct{} { return c.rounds.done }

// LogAction writes an entry of config.actionlog. The caller holds Mu for writing.
func (c *Cluster) LogAction(what string, details bson.D) {
	c.logEntry("actionlog", configServer, what, "", details)
}

func (c *Cluster) runBalancerStart(context.Context, *engine.Request) (bson.D, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.setSetting("balancer", bson.D{{Key: "mode", Value: "full"}, {Key: "stopped", Value: false}})
	if c.features.autoSplit {
		c.setSetting("autosplit", bson.D{{Key: "enabled", Value: true}})
	}
	c.switchAutoMerge(true)
	c.LogAction("balancer.start", nil)
	return bson.D{}, nil
}

// switchAutoMerge turns the AutoMerger on or off with the balancer, as 8.0 does.
func (c *Cluster) switchAutoMerge(on bool) {
	if !c.features.observed8 {
		return
	}
	c.setSetting("automerge", bson.D{{Key: "enabled", Value: on}})
	what := "autoMerge.disable"
	if on {
		what = "autoMerge.enable"
	}
	c.logChange(configServer, what, "", nil)
}

// runBalancerStop turns the balancer off and then waits for the current round.
func (c *Cluster) runBalancerStop(ctx context.Context, _ *engine.Request) (bson.D, error) {
	c.Mu.Lock()
	c.setSetting("balancer", bson.D{{Key: "mode", Value: "off"}, {Key: "stopped", Value: true}})
	if c.features.autoSplit {
		c.setSetting("autosplit", bson.D{{Key: "enabled", Value: false}})
	}
	c.switchAutoMerge(false)
	done := c.rounds.done
	c.Mu.Unlock()
	if err := c.atStep(ctx, Point{Command: "balancerStop", Step: Committed}); err != nil {
		return nil, err
	}
	if done != nil {
		if err := await(ctx, done); err != nil {
			return nil, err
		}
	}
	c.Mu.Lock()
	c.LogAction("balancer.stop", nil)
	c.Mu.Unlock()
	return bson.D{}, nil
}

func (c *Cluster) runBalancerStatus(context.Context, *engine.Request) (bson.D, error) {
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	mode := c.set.Mode
	if c.set.Stopped {
		mode = "off"
	}
	d := bson.D{
		{Key: "mode", Value: mode},
		{Key: "inBalancerRound", Value: c.rounds.done != nil},
		{Key: "numBalancerRounds", Value: c.rounds.count},
	}
	if c.features.term {
		d = append(d, bson.E{Key: "term", Value: int64(1)})
	}
	return d, nil
}

// runBalancerCollectionStatus reports whether a round would move a chunk. A jumbo chunk
// in the wrong place does not count, because no round would move it.
func (c *Cluster) runBalancerCollectionStatus(_ context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	if c.routes[ns] == nil {
		return nil, status.Errorf(status.NamespaceNotSharded, "Collection unsharded or undefined")
	}
	violation := ""
	if len(c.ZoneSplits(ns)) > 0 {
		violation = Violation
	} else if moves := c.Candidates(ns, make(map[string]bool)); len(moves) > 0 {
		violation = moves[0].Reason
	}
	return c.compliance(c.routes[ns], violation), nil
}
