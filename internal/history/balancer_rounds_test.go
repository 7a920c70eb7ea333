package history

import (
	"testing"
	"time"

	"shardboard/internal/topology"
)

func TestBalancerIsNamedOnlyIfItLoggedARoundWithMoves(t *testing.T) {
	round := func(end time.Duration, took time.Duration, moved int64, failed bool) topology.BalancerAction {
		return topology.BalancerAction{ID: end.String(), What: "balancer.round", Time: noon.Add(end), Took: took, Moved: moved, Failed: failed}
	}
	all := time.Unix(0, 0)
	for name, c := range map[string]struct {
		item  Item
		r     topology.Rounds
		by    By
		basis string
	}{
		"in a round": {Item{At: noon, Kind: Moved},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{round(time.Minute, 90*time.Second, 1, false)}}, ByBalancer, "rounds"},
		"a round that moved nothing": {Item{At: noon, Kind: Moved},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{round(time.Second, 3*time.Second, 0, true)}}, ByOther, "noRound"},
		"a failure in one": {Item{At: noon, Kind: Logged, Failed: true},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{round(time.Second, 3*time.Second, 0, true)}}, ByBalancer, "rounds"},
		"no round": {Item{At: noon, Kind: Moved},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{round(-time.Minute, time.Second, 1, false)}}, ByOther, "noRound"},
		"the switch is no round": {Item{At: noon, Kind: Moved},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{{What: "balancer.start", Time: noon, Moved: 1}}}, ByOther, "noRound"},
		"a moment ago":  {Item{At: noon, Kind: Moved}, topology.Rounds{From: all, To: noon.Add(time.Second)}, ByUnknown, "roundsOpen"},
		"still running": {Item{At: noon}, topology.Rounds{From: all, To: noon.Add(10 * time.Minute)}, ByUnknown, "roundsOpen"},
		"before what is read": {Item{At: noon, Kind: Moved}, topology.Rounds{From: noon.Add(time.Minute), To: noon.Add(time.Hour)},
			ByUnknown, "roundsGone"},
		"not read":      {Item{At: noon, Kind: Moved}, topology.Rounds{}, ByUnknown, "roundsUnread"},
		"not permitted": {Item{At: noon, Kind: Moved}, topology.Rounds{Denied: true}, ByUnknown, "roundsDenied"},
	} {
		on := state{balancer: topology.Balancer{Known: true, Mode: "full"}, knownColl: true, balances: true, rounds: c.r}
		if got := causeOf(c.item, "move", nil, on); got.By != c.by || got.Basis != c.basis || got.Inferred != (c.by != ByUnknown) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
