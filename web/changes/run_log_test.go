package changes_test

import (
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer/changing"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestTheLogOfARunHasEachEntryOfTheChangelogOnce(t *testing.T) {
	at := webtest.Epoch
	split := topology.Event{ID: "split-1", Time: at, What: "split", NS: "shop.documents"}
	step := func(events ...topology.Event) engine.Step {
		return engine.Step{Step: operation.Step{Op: operation.OpSplitAt, NS: "shop.documents"}, State: engine.Succeeded,
			Sent: at.Add(-time.Second), Ended: at.Add(time.Second), Events: events}
	}
	// The second step has the same range and is sent so soon that it sees the first one's entry.
	r := engine.Run{ID: "r", State: engine.Succeeded, Steps: []engine.Step{step(split), step(split)}}
	n := 0
	for _, e := range changing.RunLog(webtest.NewStory().View(), r) {
		if e.What == "split" {
			n++
			expect.Equal(t, e.ID, "event-1-split-1", "the step that made the entry")
		}
	}
	expect.That(t, n == 1, "the split is listed %d times", n)
}
