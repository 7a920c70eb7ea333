package catalog

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// command is a sharding command; all of them run on admin only.
type command struct {
	// run gets the namespace in the command's first value, "" unless named is set.
	run    func(ctx context.Context, r *engine.Request, ns string) (bson.D, error)
	named  bool
	locked bool // it runs with Mu held for writing
	absent bool // the release does not have it and answers CommandNotFound (59)
}

// commands returns the sharding commands by name.
func (c *Cluster) commands() map[string]command {
	before5, before6, before7, before8, before83 := !c.since(5), !c.since(6), !c.since(7),
		!c.since(8), !c.release.AtLeast(8, 3, 0)
	return map[string]command{
		"enableSharding":           {run: c.runEnableSharding, locked: true},
		"shardCollection":          {run: c.runShardCollection, named: true, locked: true},
		"split":                    {run: c.runSplit, named: true},
		"moveChunk":                {run: c.runMoveChunk, named: true},
		"mergeChunks":              {run: c.runMergeChunks, named: true},
		"clearJumboFlag":           {run: c.runClearJumboFlag, named: true, locked: true},
		"addShardToZone":           {run: c.runAddShardToZone, locked: true},
		"removeShardFromZone":      {run: c.runRemoveShardFromZone, locked: true},
		"updateZoneKeyRange":       {run: c.runUpdateZoneKeyRange, named: true, locked: true},
		"balancerStart":            {run: c.runBalancerStart, locked: true},
		"balancerStop":             {run: c.runBalancerStop},
		"balancerStatus":           {run: c.runBalancerStatus, locked: true},
		"balancerCollectionStatus": {run: c.runBalancerCollectionStatus, named: true, locked: true},
		"listShards":               {run: c.runListShards, locked: true},
		"getShardMap":              {run: c.runGetShardMap, locked: true},
		"removeShard":              {run: c.runRemoveShard, locked: true},
		"addShard":                 {run: c.runAddShard, locked: true},
		"movePrimary":              {run: c.runMovePrimary},
		"flushRouterConfig":        {run: c.runFlushRouterConfig},
		"getShardVersion":          {run: c.runGetShardVersion, locked: true},
		"refineCollectionShardKey": {run: c.runRefineCollectionShardKey, named: true},

		"reshardCollection":       {run: c.runReshardCollection, named: true, absent: before5},
		"abortReshardCollection":  {run: c.runAbortReshardCollection, named: true, absent: before5},
		"commitReshardCollection": {run: c.runCommitReshardCollection, named: true, absent: before5},
		"setAllowMigrations":      {run: c.runSetAllowMigrations, named: true, locked: true, absent: before5},

		"moveRange":                    {run: c.runMoveRange, named: true, absent: before6},
		"configureCollectionBalancing": {run: c.runConfigureCollectionBalancing, named: true, locked: true, absent: before6},

		"mergeAllChunksOnShard":  {run: c.runMergeAllChunksOnShard, named: true, absent: before7},
		"analyzeShardKey":        {run: c.runAnalyzeShardKey, named: true, locked: true, absent: before7},
		"configureQueryAnalyzer": {run: c.runConfigureQueryAnalyzer, named: true, locked: true, absent: before7},

		"moveCollection":                      {run: c.runMoveCollection, named: true, absent: before8},
		"abortMoveCollection":                 {run: c.runAbortReshardCollection, named: true, absent: before8},
		"unshardCollection":                   {run: c.runUnshardCollection, named: true, absent: before8},
		"abortUnshardCollection":              {run: c.runAbortReshardCollection, named: true, absent: before8},
		"untrackUnshardedCollection":          {run: c.runUntrack, named: true, locked: true, absent: before8},
		"transitionFromDedicatedConfigServer": {run: c.runTransitionFromDedicated, locked: true, absent: before8},
		"transitionToDedicatedConfigServer":   {run: c.runTransitionToDedicated, locked: true, absent: before8},

		"startShardDraining":  {run: c.runStartShardDraining, locked: true, absent: before83},
		"stopShardDraining":   {run: c.runStopShardDraining, locked: true, absent: before83},
		"shardDrainingStatus": {run: c.runShardDrainingStatus, locked: true, absent: before83},
		"commitShardRemoval":  {run: c.runCommitShardRemoval, locked: true, absent: before83},
	}
}

// Handlers returns the sharding commands of the release by name. They lock Mu themselves. drop,
// dropDatabase and renameCollection are implemented by the router, which calls
// [Cluster.DropCollection], [Cluster.DropDatabase] and [Cluster.RenameCollection].
func (c *Cluster) Handlers() map[string]engine.Handler {
	out := make(map[string]engine.Handler)
	for name, cmd := range c.commands() {
		if cmd.absent {
			continue
		}
		out[name] = func(ctx context.Context, r *engine.Request) (_ bson.D, err error) {
			ns := ""
			if cmd.named {
				if ns, err = namespace(r); err != nil {
					return nil, err
				}
			}
			if cmd.locked {
				c.Mu.Lock()
				defer c.Mu.Unlock()
			}
			return cmd.run(ctx, r, ns)
		}
	}
	return out
}

// namespace reads the command's first value, which must be a namespace.
func namespace(r *engine.Request) (string, error) {
	ns, ok := r.Lookup(r.Name).StringValueOK()
	if !ok {
		return "", status.Errorf(status.InvalidNamespace, "Invalid namespace specified ''")
	}
	if _, _, ok := splitNS(ns); !ok {
		return "", status.Errorf(status.InvalidNamespace, "Invalid namespace specified '%s'", ns)
	}
	return ns, nil
}

// keyArgument reads the shard key of a command.
func keyArgument(r *engine.Request) (pattern, error) {
	raw, ok := r.Lookup("key").DocumentOK()
	if !ok {
		return pattern{}, missingField(r.Name, "key")
	}
	return parsePattern(raw)
}

// document reads an optional document; nil when it is missing or empty.
func document(r *engine.Request, name string) bson.Raw {
	d, ok := r.Lookup(name).DocumentOK()
	if !ok || len(d) <= 5 {
		return nil
	}
	return d
}

// bounds reads the two documents of a "bounds" array.
func bounds(r *engine.Request) (lo, hi bson.Raw, given bool, err error) {
	a, ok := r.Lookup("bounds").ArrayOK()
	if !ok {
		return nil, nil, false, nil
	}
	values, e := a.Values()
	if e != nil || len(values) == 0 {
		return nil, nil, false, nil
	}
	lo, ok = values[0].DocumentOK()
	if !ok {
		return nil, nil, true, status.Plain("lower bound not specified")
	}
	if len(values) < 2 {
		return nil, nil, true, status.Plain("upper bound not specified")
	}
	if hi, ok = values[1].DocumentOK(); !ok {
		return nil, nil, true, status.Plain("upper bound not specified")
	}
	return lo, hi, true, nil
}

// renameAllowed rejects renaming a sharded collection on versions that cannot do it
// (4.4, s/commands/cluster_rename_collection_cmd.cpp).
func (c *Cluster) renameAllowed(from, to string) error {
	switch {
	case c.since(5):
	case c.Routing(from) != nil:
		return status.Errorf(13138, "You can't rename a sharded collection")
	case c.Routing(to) != nil:
		return status.Errorf(13139, "You can't rename to a sharded collection")
	}
	return nil
}

// missingField is the error for a missing required field.
func missingField(command, field string) error {
	return status.Errorf(40414, "BSON field '%s.%s' is missing but a required field", command, field)
}

// sortedKeys returns the sorted keys of a map, so that results do not depend on map
// order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

// splitNS splits "db.coll" at its first dot; ok is false if either part is empty.
func splitNS(ns string) (db, coll string, ok bool) {
	db, coll, ok = strings.Cut(ns, ".")
	return db, coll, ok && db != "" && coll != ""
}
