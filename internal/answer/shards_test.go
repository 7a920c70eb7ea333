package answer_test

import (
	"testing"

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
