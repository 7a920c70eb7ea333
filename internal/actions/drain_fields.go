package actions

import (
	"strconv"

	"shardboard/internal/topology"
)

// drainFields returns the fields of FactRemains and FactSpare.
func drainFields(t *topology.Table, f Fact) map[string]string {
	if f.Kind == FactSpare {
		return map[string]string{
			"others": strconv.FormatBool(len(t.Staying(f.Shard)) > 0), "onlyOf": list(t.OnlyShardOf(f.Shard)),
		}
	}
	left := t.RemainsOn(f.Shard)
	if !left.Known {
		return map[string]string{}
	}
	return RemainsFields(left.Chunks+len(left.Unsharded), len(left.Databases))
}

// RemainsFields are the fields of FactRemains.
func RemainsFields(chunks, databases int) map[string]string {
	return map[string]string{"chunks": strconv.Itoa(chunks), "databases": strconv.Itoa(databases)}
}
