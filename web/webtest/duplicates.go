package webtest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// FoundDuplicates is a check for duplicate ids that has ended with these finds.
type FoundDuplicates struct{ Found []placement.SharedID }

func (FoundDuplicates) Start(bool, map[topology.Namespace]bson.RawValue) error { return nil }

func (FoundDuplicates) Stop() error { return nil }

func (f FoundDuplicates) Report() placement.CheckReport { return placement.CheckReport{Found: f.Found} }
