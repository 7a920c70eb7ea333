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

// command is the handler of a sharding command; all of them run on admin only.
type command func(ctx context.Context, r *engine.Request) (bson.D, error)

// Handlers returns the sharding commands by name. They lock Mu themselves. drop,
// dropDatabase and renameCollection are implemented by the router, which calls
// [Cluster.DropCollection], [Cluster.DropDatabase] and [Cluster.RenameCollection].
func (c *Cluster) Handlers() map[string]engine.Handler {
	commands := map[string]command{
		"enableSharding":           c.runEnableSharding,
		"shardCollection":          c.runShardCollection,
		"split":                    onNamespace(c.runSplit),
		"moveChunk":                onNamespace(c.runMoveChunk),
		"mergeChunks":              onNamespace(c.runMergeChunks),
		"clearJumboFlag":           onNamespace(c.runClearJumboFlag),
		"setAllowMigrations":       onNamespace(c.runSetAllowMigrations),
		"addShardToZone":           c.runAddShardToZone,
		"removeShardFromZone":      c.runRemoveShardFromZone,
		"updateZoneKeyRange":       onNamespace(c.runUpdateZoneKeyRange),
		"balancerStart":            c.runBalancerStart,
		"balancerStop":             c.runBalancerStop,
		"balancerStatus":           c.runBalancerStatus,
		"balancerCollectionStatus": onNamespace(c.runBalancerCollectionStatus),
		"listShards":               c.runListShards,
		"getShardMap":              c.runGetShardMap,
		"removeShard":              c.runRemoveShard,
		"addShard":                 c.runAddShard,
		"movePrimary":              c.runMovePrimary,
		"flushRouterConfig":        c.runFlushRouterConfig,
		"getShardVersion":          c.runGetShardVersion,
		"refineCollectionShardKey": onNamespace(c.runRefineCollectionShardKey),
		"reshardCollection":        onNamespace(c.runReshardCollection),
		"abortReshardCollection":   onNamespace(c.runAbortReshardCollection),
	}
	c.addNewerCommands(commands)
	out := make(map[string]engine.Handler, 2*len(commands))
	for name, run := range commands {
		out[name] = onAdmin(name, run)
	}
	// Old names that the server still accepts.
	for alias, name := range map[string]string{
		"enablesharding": "enableSharding", "shardcollection": "shardCollection", "movechunk": "moveChunk",
		"removeshard": "removeShard", "moveprimary": "movePrimary",
	} {
		out[alias] = out[name]
	}
	return out
}

// onAdmin rejects a command on any other database, with the code Unauthorized as the
// server does.
func onAdmin(name string, run command) engine.Handler {
	return func(ctx context.Context, r *engine.Request) (bson.D, error) {
		if r.DB != "admin" {
			return nil, status.Errorf(status.Unauthorized, "%s may only be run against the admin database.", name)
		}
		ctx, cancel := withMaxTime(ctx, r)
		defer cancel()
		return run(ctx, r)
	}
}

// onNamespace reads the namespace in a command's first value before it runs.
func onNamespace(run func(ctx context.Context, r *engine.Request, ns string) (bson.D, error)) command {
	return func(ctx context.Context, r *engine.Request) (bson.D, error) {
		ns, err := namespace(r)
		if err != nil {
			return nil, err
		}
		return run(ctx, r, ns)
	}
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

// addNewerCommands adapts the command table to the version: it adds commands of
// versions after 5.0 and removes those that 4.4 lacks. Missing commands answer
// CommandNotFound (59).
func (c *Cluster) addNewerCommands(commands map[string]command) {
	if c.opts.Version[0] < 5 {
		for _, name := range []string{"reshardCollection", "abortReshardCollection", "setAllowMigrations"} {
			delete(commands, name)
		}
		return
	}
	commands["commitReshardCollection"] = onNamespace(c.runCommitReshardCollection)
	if c.features.ranges {
		commands["moveRange"] = onNamespace(c.runMoveRange)
		commands["configureCollectionBalancing"] = onNamespace(c.runConfigureCollectionBalancing)
	}
	if c.features.autoMerge {
		commands["mergeAllChunksOnShard"] = onNamespace(c.runMergeAllChunksOnShard)
		commands["analyzeShardKey"] = onNamespace(c.runAnalyzeShardKey)
		commands["configureQueryAnalyzer"] = onNamespace(c.runConfigureQueryAnalyzer)
	}
	if c.features.unsplittable {
		commands["moveCollection"] = onNamespace(c.runMoveCollection)
		commands["abortMoveCollection"] = onNamespace(c.runAbortReshardCollection)
		commands["unshardCollection"] = onNamespace(c.runUnshardCollection)
		commands["abortUnshardCollection"] = onNamespace(c.runAbortReshardCollection)
		commands["untrackUnshardedCollection"] = onNamespace(c.runUntrack)
		commands["transitionFromDedicatedConfigServer"] = c.runTransitionFromDedicated
		commands["transitionToDedicatedConfigServer"] = c.runTransitionToDedicated
	}
	if c.features.drainingByCommand {
		commands["startShardDraining"] = c.runStartShardDraining
		commands["stopShardDraining"] = c.runStopShardDraining
		commands["shardDrainingStatus"] = c.runShardDrainingStatus
		commands["commitShardRemoval"] = c.runCommitShardRemoval
	}
}

// renameAllowed rejects renaming a sharded collection on versions that cannot do it
// (4.4, s/commands/cluster_rename_collection_cmd.cpp).
func (c *Cluster) renameAllowed(from, to string) error {
	switch {
	case c.features.dbTimestamp:
	case c.routes[from] != nil:
		return status.Errorf(13138, "You can't rename a sharded collection")
	case c.routes[to] != nil:
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
