package actions

import "shardboard/internal/actions/operation"

// drainingIs: the shard exists, and is draining or not.
func drainingIs(shard string, is bool) operation.Fact {
	f := shardTakesChunks(shard)
	if is {
		f.Want["draining"] = "true"
	}
	return f
}

func shardGone(shard string) operation.Fact {
	return operation.Fact{Kind: operation.FactShard, Shard: shard, Want: map[string]string{"exists": "false"}}
}

// nothingOn: the shard has no chunk and is no database's primary shard.
func nothingOn(shard string) operation.Fact {
	return operation.Fact{Kind: operation.FactRemains, Shard: shard, Want: map[string]string{"chunks": "0", "databases": "0"}}
}

// spare: the other shards can take over from this one.
func spare(shard string) operation.Fact {
	return operation.Fact{Kind: operation.FactSpare, Shard: shard, Want: map[string]string{"others": "true", "onlyOf": ""}}
}
