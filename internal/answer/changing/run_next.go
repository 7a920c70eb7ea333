package changing

import (
	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
)

// NextChanges are the changes that a run was made for, filled in as far as it tells: a
// longer shard key alone divides nothing. words puts our sentences into the profile's.
func NextChanges(r engine.Run, words func(string) string) []api.Offer {
	if r.Kind != actions.RefineKey || r.UndoOf != "" || r.State != engine.Succeeded {
		return nil
	}
	ns := string(r.Args.NS)
	return []api.Offer{
		{Text: words("Split a project’s chunks…"), URL: answer.PlanURL(actions.SplitProject, "ns", ns)},
		{Text: "Split at a key…", URL: answer.PlanURL(actions.Split, "ns", ns)},
		{Text: words("Spread a project over the shards…"), URL: answer.PlanURL(actions.Spread, "db", r.Args.NS.Database())},
	}
}
