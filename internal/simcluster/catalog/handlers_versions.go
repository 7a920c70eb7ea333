package catalog

import "shardboard/internal/simcluster/engine/status"

// addNewerCommands fits the table of commands to the version: what came after 5.0 is added,
// what 4.4 does not have is taken out. A command that is not in the table answers
// CommandNotFound (59); so does configureQueryAnalyzer (7.0), since nothing here samples
// queries.
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
	}
	if c.features.unsplittable {
		commands["moveCollection"] = c.runMoveCollection
		commands["abortMoveCollection"] = c.runAbortReshardCollection
		commands["unshardCollection"] = c.runUnshardCollection
		commands["abortUnshardCollection"] = c.runAbortReshardCollection
		commands["transitionFromDedicatedConfigServer"] = c.runTransitionFromDedicated
		commands["transitionToDedicatedConfigServer"] = c.runTransitionToDedicated
	}
}

// renameAllowed refuses to rename sharded collections where the version can't
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

// missingField is a required field that a command came without.
func missingField(command, field string) error {
	return status.Errorf(40414, "BSON field '%s.%s' is missing but a required field", command, field)
}
