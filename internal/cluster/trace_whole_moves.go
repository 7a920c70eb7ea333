package cluster

import (
	"slices"
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// shardMovePrimary is the command that the old primary shows for movePrimary (5.0.7).
const shardMovePrimary = "_shardsvrMovePrimary"

// movePrimaryThread is the name of the row of the operation that continues movePrimary on
// the old primary since 7.0, whoever asked for it. Assumed.
const movePrimaryThread = "MovePrimaryCoordinator"

// movesWhole reports whether the operation may be the step.
func (o operationRow) movesWhole(s operation.Step) bool {
	name, what := o.name()
	if s.DB != "" {
		if o.thread == movePrimaryThread {
			return topology.Namespace(o.ns).Database() == s.DB
		}
		to, _ := o.command.Lookup("to").StringValueOK()
		return slices.Contains(s.Running(), name) && what == s.DB && (to == "" || to == s.Shard)
	}
	// The threads of a resharding name the collection; the command that began it is in them.
	if strings.HasPrefix(o.thread, "Resharding") {
		return topology.Namespace(o.ns) == s.NS || topology.Namespace(what) == s.NS
	}
	return slices.Contains(s.Running(), name) && topology.Namespace(what) == s.NS
}

// loggedAs is the namespace under which the changelog has a step.
func loggedAs(s operation.Step) topology.Namespace {
	if s.DB != "" {
		return topology.Namespace(s.DB)
	}
	return s.NS
}

// primaryMoved updates whether a movePrimary has begun and ended. 5.0.7 logs no failed one.
func primaryMoved(s operation.Step, e topology.Event, begun, ended bool) (bool, bool) {
	if to, _ := e.Details.Lookup("to").StringValueOK(); s.DB == "" || to != s.Shard {
		return begun, ended
	}
	switch e.What {
	case "movePrimary.start":
		return true, false
	case "movePrimary.commit", "movePrimary.error":
		return begun, true
	}
	return begun, ended
}
