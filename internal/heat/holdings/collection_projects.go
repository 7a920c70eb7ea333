package holdings

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat/survey"
	"shardboard/internal/topology"
)

// ProjectHere is what a project holds of one collection: on one shard and on all.
type ProjectHere struct {
	ID        bson.ObjectID
	Here, All survey.Weight
}

// ProjectsOn returns the projects of which rows were seen in a collection, with what a shard has of
// them, in no order, and how the collection was measured; none if it is not.
func (s *Snapshot) ProjectsOn(ns topology.Namespace, shard string) (list []ProjectHere, how Collection) {
	if s == nil {
		return nil, Collection{}
	}
	for _, p := range s.parts {
		if p.c.NS != ns || p.placed == nil {
			continue
		}
		for id := range p.placed.cells {
			list = append(list, ProjectHere{ID: id, Here: p.on(id, shard, p.may(id)[shard]), All: p.all(id)})
		}
		return list, *p.c
	}
	return nil, Collection{}
}
