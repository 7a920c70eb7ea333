package actions

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// sameCollection is the identity of a collection. A collection that was dropped and
// created again, or resharded, has another one, and a plan's chunks are not its chunks.
func sameCollection(c *topology.Collection) operation.Fact {
	all, want := operation.CollectionFields(c.Meta), map[string]string{}
	for _, name := range []string{"uuid", "timestamp", "epoch", "key"} {
		if all[name] != "" {
			want[name] = all[name]
		}
	}
	return operation.Fact{Kind: operation.FactCollection, NS: c.NS, Want: want}
}

func chunkIs(ns topology.Namespace, lo, hi bson.Raw, want map[string]string) operation.Fact {
	return operation.Fact{Kind: operation.FactChunk, NS: ns, Min: lo, Max: hi, Want: want}
}

func edgeAt(ns topology.Namespace, at bson.Raw, there bool) operation.Fact {
	return operation.Fact{Kind: operation.FactEdge, NS: ns, Min: at, Want: map[string]string{"exists": strconv.FormatBool(there)}}
}

// coveredBy: the whole range is on one shard, and chunks begin and end at its ends. The
// number of chunks is left open, because the balancer may split them meanwhile.
func coveredBy(ns topology.Namespace, lo, hi bson.Raw, shard string) operation.Fact {
	return operation.Fact{Kind: operation.FactCover, NS: ns, Min: lo, Max: hi, Want: map[string]string{"shards": shard, "edges": "true"}}
}

// noneOn: no chunk on the shard overlaps the range.
func noneOn(ns topology.Namespace, lo, hi bson.Raw, shard string) operation.Fact {
	return operation.Fact{Kind: operation.FactHeld, NS: ns, Min: lo, Max: hi, Shard: shard, Want: map[string]string{"chunks": "0"}}
}

func shardTakesChunks(shard string) operation.Fact {
	return operation.Fact{Kind: operation.FactShard, Shard: shard, Want: map[string]string{"exists": "true", "draining": "false"}}
}

func shardExists(shard string) operation.Fact {
	return operation.Fact{Kind: operation.FactShard, Shard: shard, Want: map[string]string{"exists": "true"}}
}

func inZone(shard, zone string, is bool) operation.Fact {
	return operation.Fact{Kind: operation.FactShardZone, Shard: shard, Zone: zone, Want: map[string]string{"member": strconv.FormatBool(is)}}
}

// zoneOfRange: the range with exactly these bounds, as stored, belongs to the zone; "" for
// no such range.
func zoneOfRange(ns topology.Namespace, lo, hi bson.Raw, zone string) operation.Fact {
	return operation.Fact{Kind: operation.FactZoneRange, NS: ns, Min: lo, Max: hi, Want: map[string]string{"zone": zone}}
}

func overlapCount(ns topology.Namespace, lo, hi bson.Raw, n int) operation.Fact {
	return operation.Fact{Kind: operation.FactZoneFree, NS: ns, Min: lo, Max: hi, Want: map[string]string{"ranges": strconv.Itoa(n)}}
}
