package collections

import (
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/sheet"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// byShard has a line for each collection and each shard that has a part of it.
var byShard = site.Sheet[api.List[api.Collection]]{
	Header: []string{"ns", "db", "sharded", "internal", "key", "primary", "shard", "chunks", "chunks_of", "share", "bytes", "documents",
		"jumbo", "unique", "no_balance", "migrations_blocked", "resharding", "zones"},
	Rows: func(out sheet.Writer, list api.List[api.Collection]) (lines int, next api.Cursor) {
		for _, c := range list.Items {
			onShards := c.Shards
			if len(onShards) == 0 { // its primary is not known
				onShards = []api.ShardPart{c.Home}
			}
			for _, p := range onShards {
				out.Row(c.NS, topology.Namespace(c.NS).Database(), strconv.FormatBool(c.Sharded), strconv.FormatBool(c.System), c.KeyText,
					c.Primary, p.Shard, strconv.Itoa(p.Chunks), strconv.Itoa(c.Chunks),
					sheet.Share(answer.ShareOf(p.ChunkShare)), sheet.Figure(p.Bytes), sheet.Figure(p.Documents),
					strconv.Itoa(c.Jumbo), strconv.FormatBool(c.Unique), strconv.FormatBool(c.NoBalance),
					strconv.FormatBool(c.MigrationsBlocked), strconv.FormatBool(c.Resharding), strings.Join(c.Zones, " "))
			}
			lines += len(onShards)
		}
		return lines, list.Next
	},
}
