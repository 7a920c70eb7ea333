package shards_test

import (
	"testing"

	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

func TestClusterAndShardsAgree(t *testing.T) {
	s := webtest.New(t)
	cluster := webtest.Decode[api.Cluster](t, s.Do("GET", "/api/v1/cluster"))
	shards := webtest.Decode[api.List[api.Shard]](t, s.Do("GET", "/api/v1/shards"))
	chunks, bytes := 0, int64(0)
	for _, sh := range shards.Items {
		chunks += sh.Chunks
		if sh.Bytes.Value != nil {
			bytes += *sh.Bytes.Value
		}
	}
	if cluster.Shards != 3 || cluster.Chunks != chunks || chunks != 1453 || *cluster.Bytes.Value != bytes || cluster.Balancer.InRound != nil ||
		!*cluster.Balancer.Enabled {
		t.Errorf("%+v", cluster)
	}
	expect.That(t, len(cluster.Parts) == len(problems.AllParts) && cluster.Parts[0].OK, "parts %+v", cluster.Parts)
}
