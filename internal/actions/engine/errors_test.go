package engine

import (
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/message"
)

func TestRefusalNamesTheCheckThatBlocks(t *testing.T) {
	p := actions.Plan{Draft: actions.Draft{Checks: []actions.Check{
		{ID: "a", Verdict: actions.Pass, Text: message.New("a", "Fine.")},
		{ID: "b", Verdict: actions.Block, Text: message.New("b", "{shard} is draining.", message.Shard("shard", "rs-2"))},
	}}}
	if got := refusalText(blockedError(p)); got != "A check blocks it. rs-2 is draining." {
		t.Errorf("got %q", got)
	}
	if got := refusalText(fault.New(fault.Invalid, "The argument is wrong.")); got != "The argument is wrong." {
		t.Errorf("got %q", got)
	}
}
