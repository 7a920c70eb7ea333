package collections

import (
	"net/http"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// CSV has a line for each collection and each shard that has a part of it.
func CSV(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	out := site.NewSheet(w, "ns", "db", "sharded", "internal", "key", "primary", "shard", "chunks", "chunks_of", "share", "bytes", "documents",
		"jumbo", "unique", "no_balance", "migrations_blocked", "resharding", "zones")
	w.Header().Set("Content-Disposition", `attachment; filename="collections.csv"`)
	for _, c := range answer.Collections(v, r.URL.Query().Get("db")).Items {
		onShards := c.Shards
		if len(onShards) == 0 { // its primary is not known
			onShards = []api.ShardPart{c.Home}
		}
		for _, p := range onShards {
			out.Row(c.NS, topology.Namespace(c.NS).Database(), strconv.FormatBool(c.Sharded), strconv.FormatBool(c.System), c.KeyText, c.Primary,
				p.Shard, strconv.Itoa(p.Chunks), strconv.Itoa(c.Chunks),
				answer.ShareText(answer.ShareOf(p.ChunkShare)), value(p.Bytes), value(p.Documents),
				strconv.Itoa(c.Jumbo), strconv.FormatBool(c.Unique), strconv.FormatBool(c.NoBalance), strconv.FormatBool(c.MigrationsBlocked),
				strconv.FormatBool(c.Resharding), strings.Join(c.Zones, " "))
		}
	}
	return out.Done()
}

// value is empty for an unknown figure: a sheet that sums a column must not take it
// for zero.
func value(f api.Figure) string {
	if f.Value == nil {
		return ""
	}
	return strconv.FormatInt(*f.Value, 10)
}
