package access

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// mayAggregate checks the privileges of every stage, including sub-pipelines, and find
// on the collection unless the first stage is a source.
func mayAggregate(s *Session, r *engine.Request) bool {
	p := pipelineCheck{s}
	on := target(r)
	if on.coll == "" {
		on.coll = "$cmd.aggregate"
	}
	return p.pipeline(on, r.Lookup("pipeline"))
}

// pipelineCheck checks the stages of a pipeline.
type pipelineCheck struct{ s *Session }

// pipeline checks stages that read a collection.
func (p pipelineCheck) pipeline(on Resource, stages bson.RawValue) bool {
	first := true
	for stage := range value.Items(stages) {
		if stage.Type != bson.TypeEmbeddedDocument {
			return true // fails as malformed
		}
		name, arg := value.First(stage.Value)
		if first && !ownSource(name) && !p.s.May(on, "find") {
			return false
		}
		if first = false; !p.stage(on, name, arg) {
			return false
		}
	}
	return !first || p.s.May(on, "find")
}

// ownSource reports whether a first stage does not read the collection.
func ownSource(stage string) bool {
	switch stage {
	case "$collStats", "$indexStats", "$currentOp", "$shardedDataDistribution", "$listClusterCatalog", "$documents":
		return true
	}
	return false
}

func (p pipelineCheck) stage(on Resource, name string, arg bson.RawValue) bool {
	field := func(key string) bson.RawValue {
		if arg.Type != bson.TypeEmbeddedDocument {
			return bson.RawValue{}
		}
		return value.Field(arg.Value, key)
	}
	switch name {
	case "$collStats":
		return p.s.May(on, "collStats")
	case "$indexStats":
		return p.s.May(on, "indexStats")
	case "$currentOp":
		// The shards show operations of all users, so only the user's own operations on
		// mongos are visible without a privilege.
		return truthy(field("localOps")) && !truthy(field("allUsers")) || p.s.May(OnCluster(), "inprog")
	case "$listClusterCatalog": // of a database assumed
		return p.s.May(OnCluster(), "listClusterCatalog") || on.db != "admin" && p.s.May(OnDatabase(on.db), "listCollections")
	case "$shardedDataDistribution":
		return p.s.May(OnCluster(), "shardedDataDistribution")
	case "$lookup":
		return p.join(on, field("from"), field("pipeline"))
	}
	return true
}

// join checks the other collection of a $lookup and its pipeline.
func (p pipelineCheck) join(on Resource, from, stages bson.RawValue) bool {
	other := elsewhere(on, from)
	if other.coll == "" && stages.Type == bson.TypeArray {
		return p.pipeline(OnNamespace(on.db, "$cmd.aggregate"), stages)
	}
	if stages.Type == bson.TypeArray {
		return p.pipeline(other, stages)
	}
	return p.s.May(other, "find")
}

// elsewhere is the collection of the same database that a stage names.
func elsewhere(on Resource, v bson.RawValue) Resource {
	coll, _ := v.StringValueOK()
	return OnNamespace(on.db, coll)
}
