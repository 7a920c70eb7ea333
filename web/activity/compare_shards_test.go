package activity

import (
	"fmt"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/templates"
)

func TestComparisonOfManyShardsListsThoseThatChangedMost(t *testing.T) {
	all := make([]api.ShardChange, 100)
	for i := range all {
		all[i] = api.ShardChange{Shard: fmt.Sprintf("rs-%d", i+1)}
	}
	less, more := int64(-900), int64(20)
	all[70].BytesMore, all[4].BytesMore, all[9].ChunksMore = &less, &more, -3
	got := changedShards(all, false)
	must.That(t, len(got) == templates.ListedOfMany, "%d shards are listed", len(got))
	at := map[string]int{}
	for i, s := range got {
		at[s.Shard] = i + 1
	}
	expect.That(t, at["rs-5"] != 0 && at["rs-10"] > at["rs-5"] && at["rs-71"] > at["rs-10"], "changed shards stand at %v", at)
	expect.Equal(t, len(changedShards(all, true)), 100, "of all shards")
	expect.Equal(t, len(changedShards(all[:36], false)), 36, "of 36 shards")
}
