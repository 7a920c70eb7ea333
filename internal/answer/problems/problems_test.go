package problems_test

import (
	"strings"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// attention is the list of problems as the overview shows it, without its limit.
func attention(v answer.View) []api.ProblemLine {
	return problems.ProblemLines(v, problems.Problems(v).Items)
}

func TestAttentionNamesWhatIsWrongMostUrgentFirst(t *testing.T) {
	list := attention(webtest.NewStory().With(webtest.Troubled).View())
	var texts []string
	for _, p := range problems.Problems(webtest.NewStory().With(webtest.Troubled).View()).Items {
		texts = append(texts, p.Remedy.WhyNot.At(webtest.Epoch))
	}
	seenCalm := false
	for _, a := range list {
		texts = append(texts, a.Title+" "+a.Why)
		urgent := a.Severity == "critical"
		expect.That(t, !urgent || !seenCalm, "%q is urgent but comes late", a.Title)
		seenCalm = seenCalm || !urgent
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{
		"shard-rs-2 is draining, but the balancer, which moves its chunks, is off", "Moves of yorkie-meta.documents are blocked",
		"flagged jumbo, which the balancer skips: 2",
		"No shard is in the zone mars", "outside their zone", "The balancer is off", "Grant the cluster user clusterMonitor",
		"Changelog: the last read failed", "mongos-1:27017 has not pinged", "snapshot_bodies is documented as sharded",
	} {
		expect.Contains(t, all, want, "the sentences")
	}
}

func TestNothingNeedsAttentionInAHealthyCluster(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) { t.Events = nil }).View()
	if list := attention(v); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}
