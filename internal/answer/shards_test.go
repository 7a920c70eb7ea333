package answer_test

import (
	"strings"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

func TestShardColourIsItsPlaceAmongTheSortedNames(t *testing.T) {
	s := webtest.NewStory()
	s.Shards = 14
	list := templates.ShardRefs(s.View().Table)
	for i, r := range list {
		expect.That(t, r.Color == i%12+1, "%s has colour %d at place %d", r.Name, r.Color, i)
	}
	if got := templates.RefsOf(s.View().Table).Of("never-heard-of"); got.Color != 0 || got.Label != "?" {
		t.Errorf("an unlisted shard is %+v", got)
	}
}

func TestAHundredShardsAreToldApart(t *testing.T) {
	s := webtest.NewStory()
	s.Shards = 100
	classes, labels := map[string]string{}, map[string]string{}
	for _, r := range templates.ShardRefs(s.View().Table) {
		if other, taken := classes[r.Class()]; taken {
			t.Errorf("%s and %s are both drawn as %q", other, r.Name, r.Class())
		}
		if other, taken := labels[r.Label]; taken || len(r.Label) > 3 {
			t.Errorf("%s has the label %q, which is longer than 3 characters or that of %q", r.Name, r.Label, other)
		}
		classes[r.Class()], labels[r.Label] = r.Name, r.Name
	}
}

func TestLabelsOfShardsTellTheirNamesApart(t *testing.T) {
	for names, want := range map[string]string{
		"shard-rs-1 shard-rs-2 shard-rs-10": "1 2 10", "rs0 rs1": "0 1", "rs-1 rs.1 rs_1": "1 2 3", "eu-west us-west": "1 2", "eu us": "eu us",
		"only": "1", "frankfurt virginia": "1 2", "rs rs1": "1 2", "shard-<b> shard-x": "1 2",
	} {
		var shards []topology.Shard
		for name := range strings.SplitSeq(names, " ") {
			shards = append(shards, topology.Shard{Name: name})
		}
		expect.Equal(t, strings.Join(answer.ShardLabels(shards), " "), want, "labels of %s", names)
	}
}
