package catalog

import "shardboard/internal/simcluster/engine/status"

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
	commands["commitReshardCollection"] = c.runCommitReshardCollection
	if c.features.ranges {
		commands["moveRange"] = c.runMoveRange
		commands["configureCollectionBalancing"] = c.runConfigureCollectionBalancing
	}
	if c.features.autoMerge {
		commands["mergeAllChunksOnShard"] = c.runMergeAllChunksOnShard
		commands["analyzeShardKey"] = c.runAnalyzeShardKey
		commands["configureQueryAnalyzer"] = c.runConfigureQueryAnalyzer
	}
	if c.features.unsplittable {
		commands["moveCollection"] = c.runMoveCollection
		commands["abortMoveCollection"] = c.runAbortReshardCollection
		commands["unshardCollection"] = c.runUnshardCollection
		commands["abortUnshardCollection"] = c.runAbortReshardCollection
		commands["untrackUnshardedCollection"] = c.runUntrack
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
