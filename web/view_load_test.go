package web_test

import (
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
)

func TestAnEmptyClusterHasZeroBytesNotUnknownOnes(t *testing.T) {
	table := &topology.Table{Loaded: true, Shards: []topology.Shard{{Name: "a"}, {Name: "b"}}}
	for i, f := range answer.LoadOf(table).Bytes {
		if !f.Known || !f.Exact || f.Value != 0 {
			t.Errorf("shard %d: %+v", i, f)
		}
	}
	table.Databases = []topology.Database{{Name: "db", Primary: "a"}} // may hold collections nobody has listed yet
	for i, f := range answer.LoadOf(table).Bytes {
		if f.Known {
			t.Errorf("with an unlisted database, shard %d: %+v", i, f)
		}
	}
}
