package shards_test

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// silent has some shards give no answer.
func silent(names ...string) func(*topology.Table) {
	return func(t *topology.Table) {
		t.Answering = topology.Answering{At: webtest.Epoch, Config: topology.Answer{State: topology.Answers, Last: webtest.Epoch},
			Shards: map[string]topology.Answer{}}
		for _, s := range t.Shards {
			t.Answering.Shards[s.Name] = topology.Answer{State: topology.Answers, Last: webtest.Epoch}
		}
		for _, name := range names {
			t.Answering.Shards[name] = topology.Answer{State: topology.Silent, Since: webtest.Epoch.Add(-time.Minute)}
		}
	}
}

func TestTheWorstProblemOfAShardIsOnTopOfItsPage(t *testing.T) {
	many := webtest.NewStory()
	many.Shards = 8
	all := []string{"shard-rs-1", "shard-rs-2", "shard-rs-3", "shard-rs-4", "shard-rs-5", "shard-rs-6", "shard-rs-7"}
	for _, c := range []struct {
		name, shard string
		story       *webtest.Story
		silent      []string
		want        string // "": no card says that a shard does not answer
	}{
		{"it is silent", "shard-rs-1", webtest.NewStory(), all[:1], "shard-rs-1 has not answered since"},
		{"another is silent", "shard-rs-2", webtest.NewStory(), all[:1], ""},
		{"it is one of many", "shard-rs-7", many, all, "Shard does not answer: 7"},
		{"none is silent", "shard-rs-1", webtest.NewStory(), nil, ""},
	} {
		s := served(t, c.story.With(silent(c.silent...)).View())
		doc := s.Page(t, "/shards/"+c.shard)
		first := doc.Find("#live-shard > .attention > li").First()
		if c.want == "" {
			expect.Lacks(t, doc.Find("#live-shard > .attention").Text(), "answer", "%s", c.name)
			continue
		}
		if !strings.Contains(first.Text(), c.want) || first.AttrOr("data-severity", "") != "critical" || first.Find("a").Length() == 0 {
			t.Errorf("%s: %q", c.name, first.Text())
		}
	}
}
