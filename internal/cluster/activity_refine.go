package cluster

import (
	"strings"

	"shardboard/internal/topology"
)

// refineCoordinator begins the name of the thread that refines a shard key on the shard
// that is primary for the database. Since 6.0 it survives the client that asked, and even
// a new primary.
const refineCoordinator = "RefineCollectionShardKeyCoordinator"

// refines reports whether the operation refines the shard key of a collection: the command
// on a mongos, on the shard or on the config server, or the coordinator. The internal
// names are those of 5.0.7, and assumed for later releases.
func (o operationRow) refines(ns topology.Namespace) bool {
	if strings.HasPrefix(o.thread, refineCoordinator) && o.ns == string(ns) {
		return true
	}
	switch name, what := o.name(); name {
	case "refineCollectionShardKey", "_configsvrRefineCollectionShardKey":
		return what == string(ns)
	case "_shardsvrRefineCollectionShardKey":
		db, _ := o.command.Lookup("$db").StringValueOK()
		return what == ns.Collection() && db == ns.Database()
	}
	return false
}
