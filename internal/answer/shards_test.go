package answer_test

import (
	"slices"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

func TestShardColourIsItsPlaceAmongTheSortedNames(t *testing.T) {
	s := webtest.NewStory()
	s.Shards = 14
	list := templates.ShardRefs(s.View().Table)
	for i, r := range list {
		if r.Color != i%12+1 {
			t.Errorf("%s has colour %d at place %d", r.Name, r.Color, i)
		}
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

// A shard that is added at the end, as in shard-rs-1, shard-rs-2, …, changes no other.
func TestAnAddedShardKeepsTheSwatchesBeforeIt(t *testing.T) {
	s := webtest.NewStory()
	s.Shards = 12
	before := templates.ShardRefs(s.View().Table)
	s.Shards = 13
	if after := templates.ShardRefs(s.View().Table); !slices.Equal(after[:12], before) || after[12].Class() != "s1 p1" {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
}

func TestLabelsOfShardsAreUnique(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"shard-rs-1", "shard-rs-2", "shard-rs-10"}, []string{"1", "2", "10"}},
		{[]string{"rs-1", "rs.1", "rs_1"}, []string{"1", "2", "3"}},
		{[]string{"eu-west", "us-west"}, []string{"1", "2"}},
		{[]string{"only"}, []string{"1"}},
	} {
		var shards []topology.Shard
		for _, n := range c.names {
			shards = append(shards, topology.Shard{Name: n})
		}
		if got := answer.ShardLabels(shards); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}
