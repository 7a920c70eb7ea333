package answer_test

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

func TestAnEmptyClusterHasZeroBytesNotUnknownOnes(t *testing.T) {
	table := &topology.Table{Loaded: true, Shards: []topology.Shard{{Name: "a"}, {Name: "b"}}}
	for i, f := range answer.LoadOf(table).Bytes {
		expect.That(t, f.Known && f.Exact && f.Value == 0, "shard %d: %+v", i, f)
	}
	table.Databases = []topology.Database{{Name: "db", Primary: "a"}} // may hold collections nobody has listed yet
	for i, f := range answer.LoadOf(table).Bytes {
		expect.That(t, !f.Known, "with an unlisted database, shard %d: %+v", i, f)
	}
}

func TestBalanceIsJudgedByTheFullestShard(t *testing.T) {
	figure := func(n int64) topology.Figure { return topology.Figure{Known: true, Value: n} }
	none := topology.Figure{Reason: "notLoaded"}
	two := []topology.Shard{{Name: "a"}, {Name: "b"}}
	drained := []topology.Shard{{Name: "a"}, {Name: "b"}, {Name: "gone", Draining: true}}
	for _, c := range []struct {
		name          string
		bytes, chunks []topology.Figure
		shards        []topology.Shard
		want, code    string
	}{
		{"even", []topology.Figure{figure(100), figure(110)}, nil, two, "Balanced: the fullest", "even"},
		{"somewhat", []topology.Figure{figure(100), figure(160)}, nil, two, "Somewhat uneven: b", "somewhat"},
		{"uneven", []topology.Figure{figure(900), figure(100)}, nil, two, "Uneven: a has 90", "uneven"},
		{"by chunks while bytes are unknown", []topology.Figure{figure(900), none}, []topology.Figure{figure(5), figure(5)}, two,
			"of the chunks", "even"},
		{"one shard", []topology.Figure{figure(1)}, nil, two[:1], "One shard", "oneShard"},
		{"one drains", []topology.Figure{figure(100), figure(90), figure(300)}, nil, drained,
			"Balanced: the fullest shard, a, has 20\u202f% of the data; an even share of those that do not drain is 50\u202f%", "even"},
		{"one of two drains", []topology.Figure{figure(100), figure(900)}, nil, drained[1:], "nothing to balance", "oneStays"},
		{"no data", []topology.Figure{figure(0), figure(0)}, nil, two, "No data yet", "noData"},
		{"no shard", nil, nil, nil, "No shards", "noShards"},
	} {
		got := answer.Load{Shards: c.shards, Bytes: c.bytes, Chunks: c.chunks}.Balance()
		if got.Code != "balance."+c.code || !strings.Contains(got.String(), c.want) {
			t.Errorf("%s: %s %q, want %s … %q", c.name, got.Code, got, c.code, c.want)
		}
	}
}

func TestBalanceDoesNotJudgeLittleDataOrSizesThatAreBeingRead(t *testing.T) {
	sizes := func(a, b int64) topology.Sizes {
		of := func(n int64) topology.Figure { return topology.Figure{Known: true, Value: n} }
		return topology.Sizes{At: time.Now(), Shards: map[string]topology.Size{"a": {Bytes: of(a)}, "b": {Bytes: of(b)}}}
	}
	table := &topology.Table{Loaded: true, Shards: []topology.Shard{{Name: "a"}, {Name: "b"}},
		Unsharded: []topology.Namespace{"db.x"}, Sizes: map[topology.Namespace]topology.Sizes{"db.x": sizes(9<<20, 0)}}
	if got := answer.LoadOf(table).Balance(); got.Code != "balance.little" {
		t.Errorf("9 MiB are %q, of which no rule finds a problem", got)
	}
	table.Sizes["db.x"] = sizes(9<<30, 0)
	if got := answer.LoadOf(table).Balance(); got.Code != "balance.uneven" {
		t.Errorf("9 GiB on one shard: %q", got)
	}
	table.Unsharded = append(table.Unsharded, "db.y")
	if got := answer.LoadOf(table).Balance(); got.Code != "balance.partial" || strings.Contains(got.String(), "neven:") {
		t.Errorf("judged by a part of the collections: %q", got)
	}
}

func TestSumIsAnEstimateWhenPartsAreMissing(t *testing.T) {
	var s answer.Sum
	if f := s.Figure(); f.Known || f.Reason != "notLoaded" {
		t.Errorf("nothing added: %+v", f)
	}
	s.Add(topology.Figure{Known: true, Exact: true, Value: 5})
	if f := s.Figure(); !f.Exact || f.Value != 5 {
		t.Errorf("one exact: %+v", f)
	}
	s.Add(topology.Figure{Reason: "unreachable"})
	if f := s.Figure(); f.Exact || f.Value != 5 {
		t.Errorf("one missing: %+v", f)
	}
}
