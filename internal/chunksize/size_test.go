package chunksize

import (
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

func TestChunkSizeIsJudgedByTheDonorsRule(t *testing.T) {
	const mb = 1 << 20
	figure := func(n int64) topology.Figure {
		return topology.Figure{Known: true, Value: n, Method: "collStats", At: time.Unix(1, 0)}
	}
	c := alternatingCollection(4, 1)
	tab := func(version string, documents, bytes int64) *topology.Table {
		return &topology.Table{ServerInfo: topology.ServerInfo{Version: version}, Balancer: topology.Balancer{ChunkBytes: mb},
			Sizes: map[topology.Namespace]topology.Sizes{"db.c": {Shards: map[string]topology.Size{"a": {Documents: figure(documents),
				Bytes: figure(bytes)}}}}}
	}
	recorded := tab("5.0.7", 10_000, 9_310_000) // 931 bytes each: the limit is 2,252
	measured := func(n int64, exact bool) Size {
		return sizeOf(topology.RangeSize{Documents: n, Bytes: n * 931, Exact: exact, At: time.Unix(2, 0)})
	}
	tests := []struct {
		name  string
		table *topology.Table
		size  Size
		want  State
		over  bool
	}{
		{"recorded refusal", recorded, measured(2706, true), TooBig, true},
		{"at the limit", recorded, measured(2252, true), Fits, false},
		{"one more", recorded, measured(2253, true), TooBig, true},
		{"estimated, a little below", recorded, measured(2000, false), Near, false},
		{"estimated, a little above", recorded, measured(2500, false), Near, true},
		{"estimated, well below", recorded, measured(1000, false), Fits, false},
		{"estimated, well above", recorded, measured(2706, false), TooBig, true},
		{"empty", recorded, measured(0, false), Fits, false},
		{"a share of the shard", recorded, ShareOf(recorded, c, "a", 2), TooBig, true},
		{"no statistics", &topology.Table{Balancer: topology.Balancer{ChunkBytes: mb}}, ShareOf(&topology.Table{}, c, "a", 2), Unknown, false},
		{"no chunk size", &topology.Table{}, measured(10, true), Unknown, false},
	}
	for _, tc := range tests {
		v := Judge(tc.table, c, "a", tc.size)
		expect.That(t, v.State == tc.want && v.Oversized(tc.size) == tc.over, "%s: %+v", tc.name, v)
	}
	if v := Judge(recorded, c, "a", measured(1, true)); v.Limit != 2252 || v.Mean != 931 {
		t.Errorf("got %+v, want Limit 2252, Mean 931", v)
	}
	c.MaxChunkBytes = 10 * mb
	if v := Judge(recorded, c, "a", measured(2706, true)); v.State != Fits || v.ChunkBytes != 10*mb {
		t.Errorf("by the collection's own chunk size: %+v, want State %v, ChunkBytes %v", v, Fits, 10*mb)
	}
}
