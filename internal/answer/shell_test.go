package answer_test

import (
	"strings"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
)

func TestShardLabelsAreWhatTellsNamesApart(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"shard-rs-1 shard-rs-2 shard-rs-3", "1 2 3"},
		{"rs0 rs1", "0 1"},
		{"rs10 rs11 rs9", "10 11 9"},
		{"eu us", "eu us"},
		{"only", "1"},
		{"frankfurt virginia", "1 2"},
		{"rs rs1", "1 2"},
		{"shard-<b> shard-x", "1 2"},
	} {
		var shards []topology.Shard
		for name := range strings.SplitSeq(c.names, " ") {
			shards = append(shards, topology.Shard{Name: name})
		}
		if got := strings.Join(answer.ShardLabels(shards), " "); got != c.want {
			t.Errorf("%s → %s, want %s", c.names, got, c.want)
		}
	}
}
