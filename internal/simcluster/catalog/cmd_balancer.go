package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// balancerRounds is the state shown by balancerStatus.
type balancerRounds struct {
	count int64
	done  chan struct{} // closed when the running round ends; nil between rounds
}

// BeginRound marks a balancer round as running until end is called, which unblocks
// balancerStop. The caller holds Mu for writing, for both.
func (c *Cluster) BeginRound() (end func()) {
	done := make(chan struct{})
	c.rounds.count++
	c.rounds.done = done
	return func() {
		close(done)
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

func (c *Cluster) runBalancerStart(context.Context, *engine.Request, string) (bson.D, error) {
	c.setSetting("balancer", value.D("mode", "full", "stopped", false))
	if c.splits() {
		c.setSetting("autosplit", value.D("enabled", true))
	}
	c.switchAutoMerge(true)
	c.LogAction("balancer.start", nil)
	return bson.D{}, nil
}

// switchAutoMerge turns the AutoMerger on or off with the balancer, as 8.0 does.
func (c *Cluster) switchAutoMerge(on bool) {
	if !c.since(8) {
		return
	}
	c.setSetting("automerge", value.D("enabled", on))
	what := "autoMerge.disable"
	if on {
		what = "autoMerge.enable"
	}
	c.logChange(configServer, what, "", nil)
}

// runBalancerStop turns the balancer off and then waits for the current round.
func (c *Cluster) runBalancerStop(ctx context.Context, _ *engine.Request, _ string) (bson.D, error) {
	c.Mu.Lock()
	c.setSetting("balancer", value.D("mode", "off", "stopped", true))
	if c.splits() {
		c.setSetting("autosplit", value.D("enabled", false))
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

func (c *Cluster) runBalancerStatus(context.Context, *engine.Request, string) (bson.D, error) {
	mode := c.set.Mode
	if c.set.Stopped {
		mode = "off"
	}
	return value.D("mode", mode, "inBalancerRound", c.rounds.done != nil, "numBalancerRounds", c.rounds.count,
		value.When(c.since(8), "term", int64(1))), nil
}

// runBalancerCollectionStatus reports whether a round would move a chunk. A jumbo chunk
// in the wrong place does not count, because no round would move it.
func (c *Cluster) runBalancerCollectionStatus(_ context.Context, req *engine.Request, ns string) (bson.D, error) {
	if c.Routing(ns) == nil {
		return nil, status.Errorf(status.NamespaceNotSharded, "Collection unsharded or undefined")
	}
	violation := ""
	if len(c.ZoneSplits(ns)) > 0 {
		violation = Violation
	} else if moves := c.Candidates(ns, make(map[string]bool)); len(moves) > 0 {
		violation = moves[0].Reason
	}
	return c.compliance(c.Routing(ns), violation), nil
}

// chunkSizeOf is the size of a full chunk of a collection, in bytes.
func (c *Cluster) chunkSizeOf(r *Routing) int64 {
	if r.newer.maxBytes > 0 {
		return r.newer.maxBytes
	}
	return c.ChunkSize()
}

// runConfigureCollectionBalancing sets the balancing options of a collection (6.0):
// chunk size in MB (0 means the cluster's), defragmentation, automatic merging (7.0),
// balancing (8.0.10). 8.0 raises the newest chunk's version; assumed: earlier ones change no version.
func (c *Cluster) runConfigureCollectionBalancing(_ context.Context, req *engine.Request, ns string) (bson.D, error) {
	r := c.Routing(ns)
	if r == nil && c.since(8) {
		return nil, status.Errorf(status.NamespaceNotSharded, "Expected to match one doc for query { _id: %q } but matched 0", ns)
	}
	if r == nil {
		return nil, c.notSharded(ns)
	}
	// Check all arguments before changing anything.
	size, sized := asInt64(req.Lookup("chunkSize"))
	if sized && (size < 0 || size > 1024) {
		if c.since(8) {
			return nil, status.Errorf(status.InvalidOptions, "Chunk size '%d' out of range [1MB, 1GB]", size)
		}
		return nil, status.Errorf(status.InvalidOptions, "chunk size '%d' is out of range [1MB, 1GB]", size<<20)
	}
	noMerge, noBalance := r.newer.noAutoMerge, r.NoBalance
	if err := c.switchedOff(req, "enableAutoMerger", c.since(7), &noMerge); err != nil {
		return nil, err
	}
	if err := c.switchedOff(req, "enableBalancing", c.release.AtLeast(8, 0, 10), &noBalance); err != nil {
		return nil, err
	}
	r.newer.noAutoMerge, r.NoBalance = noMerge, noBalance
	if sized {
		r.newer.maxBytes = size << 20
	}
	if v := req.Lookup("defragmentCollection"); v.Type == bson.TypeBoolean {
		r.newer.defragment = defragment(v.Boolean(), r.newer.defragment)
	}
	if c.since(8) {
		r.wrote()
	}
	c.saveCollection(r)
	c.bumpNewest(r)
	if c.since(8) {
		c.logConfigured(req, ns)
	}
	return bson.D{}, nil
}

// logConfigured logs what a command changed, as 8.0 does; it names only two of the options.
func (c *Cluster) logConfigured(req *engine.Request, ns string) {
	details := bson.D{}
	if n, ok := asInt64(req.Lookup("chunkSize")); ok {
		details = append(details, bson.E{Key: "chunkSizeMB", Value: int32(n)})
	}
	if v := req.Lookup("defragmentCollection"); v.Type == bson.TypeBoolean {
		details = append(details, bson.E{Key: "defragmentCollection", Value: v.Boolean()})
	}
	c.logChange(configServer, "configureCollectionBalancing", ns, details)
}

// switchedOff reads a boolean that only some versions know; off keeps its value when it is absent.
func (c *Cluster) switchedOff(req *engine.Request, name string, known bool, off *bool) error {
	v := req.Lookup(name)
	switch {
	case v.Type == 0:
	case !known:
		return status.Errorf(40415, "BSON field 'ConfigureCollectionBalancing.%s' is an unknown field.", name)
	case v.Type != bson.TypeBoolean:
		return status.Errorf(status.TypeMismatch, "BSON field 'ConfigureCollectionBalancing.%s' is the wrong type, expected type 'bool'", name)
	default:
		*off = !v.Boolean()
	}
	return nil
}

// compliance is the reply of balancerCollectionStatus; since 6.0 it has the chunk size
// in MB (a double in 8.0) and the phase of a running defragmentation.
func (c *Cluster) compliance(r *Routing, violation string) bson.D {
	if c.since(6) && r.newer.defragment != notDefragmenting {
		violation = Defragmenting
	}
	size := any(c.chunkSizeOf(r) >> 20)
	if c.since(8) {
		size = float64(c.chunkSizeOf(r)) / (1 << 20)
	}
	return value.D(value.When(c.since(6), "chunkSize", size), "balancerCompliant", violation == "",
		value.When(violation != "", "firstComplianceViolation", violation),
		value.When(violation == Defragmenting, "details", value.D("currentPhase", r.newer.defragment.String())))
}

// Defragmenting is the reason given by balancerCollectionStatus during a
// defragmentation.
const Defragmenting = "defragmentingChunks"

// defragmenting is the phase of a collection's defragmentation
// (db/s/balancer/balancer_defragmentation_policy.cpp).
type defragmenting int

const (
	notDefragmenting defragmenting = iota
	mergeAndMeasure
	moveAndMerge
	mergeRest
)

func (p defragmenting) String() string {
	return [...]string{"", "mergeAndMeasureChunks", "moveAndMergeChunks", "mergeChunks"}[p]
}

// defragment is the phase after the option was changed: turning it off goes to the last
// phase.
func defragment(on bool, at defragmenting) defragmenting {
	switch {
	case on && at == notDefragmenting:
		return mergeAndMeasure
	case !on && at != notDefragmenting:
		return mergeRest
	}
	return at
}

// Defragment runs one phase for every collection that is being defragmented: adjacent
// chunks on one shard are merged while they stay below the chunk size. Moving chunks
// together from different shards is not simulated, so the second phase changes nothing.
// The caller holds Mu for writing.
func (c *Cluster) Defragment() {
	for _, ns := range c.Namespaces() {
		r := c.Routing(ns)
		phase := r.newer.defragment
		if phase == notDefragmenting || !r.Balanced() || c.moves.donating(ns, "") != nil {
			continue
		}
		if phase != moveAndMerge {
			c.mergeNeighbours(r)
		}
		if r.newer.defragment = phase + 1; phase == mergeRest {
			r.newer.defragment = notDefragmenting
		}
		c.saveCollection(r)
	}
}

// mergeNeighbours merges adjacent chunks of one shard up to the chunk size.
func (c *Cluster) mergeNeighbours(r *Routing) {
	limit := c.chunkSizeOf(r)
	for first := 0; first < len(r.chunks); first++ {
		size := c.bytesIn(r, r.chunks[first])
		last := first
		for last+1 < len(r.chunks) {
			next := r.chunks[last+1]
			if next.Shard != r.chunks[first].Shard || next.Jumbo || r.chunks[first].Jumbo ||
				c.zoneOf(r.NS, next) != c.zoneOf(r.NS, r.chunks[first]) {
				break
			}
			if size += c.bytesIn(r, next); size > limit {
				break
			}
			last++
		}
		if last > first {
			if log, err := c.merge(r.NS, r.chunks[first].Min, r.chunks[last].Max); err == nil {
				log()
			}
		}
	}
}
