package access

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// mayAggregate checks the privileges of every stage, including sub-pipelines, and find
// on the collection unless the first stage is a source.
func mayAggregate(s *Session, r *engine.Request) bool {
	on := target(r)
	if on.coll == "" {
		on.coll = "$cmd.aggregate"
	}
	return s.mayPipeline(on, r.Lookup("pipeline"))
}

// mayPipeline checks stages that read a collection.
func (s *Session) mayPipeline(on Resource, stages bson.RawValue) bool {
	first := true
	for stage := range value.Items(stages) {
		if stage.Type != bson.TypeEmbeddedDocument {
			return true // fails as malformed
		}
		name, arg := value.First(stage.Value)
		if first && !ownSource(name) && !s.May(on, "find") {
			return false
		}
		if first = false; !s.mayStage(on, name, arg) {
			return false
		}
	}
	return !first || s.May(on, "find")
}

// ownSource reports whether a first stage does not read the collection.
func ownSource(stage string) bool {
	switch stage {
	case "$collStats", "$indexStats", "$currentOp", "$shardedDataDistribution", "$listClusterCatalog", "$documents":
		return true
	}
	return false
}

func (s *Session) mayStage(on Resource, name string, arg bson.RawValue) bool {
	field := func(key string) bson.RawValue {
		if arg.Type != bson.TypeEmbeddedDocument {
			return bson.RawValue{}
		}
		return value.Field(arg.Value, key)
	}
	switch name {
	case "$collStats":
		return s.May(on, "collStats")
	case "$indexStats":
		return s.May(on, "indexStats")
	case "$currentOp":
		// The shards show operations of all users, so only the user's own operations on
		// mongos are visible without a privilege.
		return truthy(field("localOps")) && !truthy(field("allUsers")) || s.May(OnCluster(), "inprog")
	case "$listClusterCatalog": // of a database assumed
		return s.May(OnCluster(), "listClusterCatalog") || on.db != "admin" && s.May(OnDatabase(on.db), "listCollections")
	case "$shardedDataDistribution":
		return s.May(OnCluster(), "shardedDataDistribution")
	case "$lookup":
		return s.mayJoin(on, field("from"), field("pipeline"))
	}
	return true
}

// mayJoin checks the other collection of a $lookup and its pipeline.
func (s *Session) mayJoin(on Resource, from, stages bson.RawValue) bool {
	coll, _ := from.StringValueOK()
	other := OnNamespace(on.db, coll)
	if stages.Type != bson.TypeArray {
		return s.May(other, "find")
	}
	if coll == "" {
		other.coll = "$cmd.aggregate"
	}
	return s.mayPipeline(other, stages)
}
