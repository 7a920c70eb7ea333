package actions

import "slices"

// Arguments of batches. bytesPerHour is a count because a form has no field for sizes.
var (
	argPlans = Argument{
		Name: "plans", Type: TypePlans, Label: "Changes",
		Help:  "The items as a JSON list of kind and args, up to 1,000.",
		field: func(a *Args) any { return &a.Plans },
	}
	argProjects = Argument{
		Name: "projects", Type: TypeProjects, Label: "Or projects",
		Help:  "Up to 1,000 projects by id, exact name or public key, instead of the list. In text, separate them by commas.",
		field: func(a *Args) any { return &a.Projects },
	}
	argEach = Argument{
		Name: "each", Type: TypeChoice, Label: "Change each of them by",
		Help: "What to do with each of the projects or chunks.",
		Choices: []Choice{{string(Pin), "pin (projects)"}, {string(Unpin), "unpin (projects)"}, {string(Spread), "spread (projects)"},
			{string(SplitProject), "split-project (projects)"}, {string(MoveChunk), "move (chunks)"}, {string(Split), "split (chunks)"},
			{string(ClearJumbo), "clear-jumbo (chunks)"}},
		Empty: "the list says it",
		field: func(a *Args) any { return &a.Each },
	}
	argLeaveOut = Argument{
		Name: "leaveOutBlocked", Type: TypeSwitch, Label: "Leave out blocked items",
		Help:  "Leave out the items that a check blocks. The plan lists them. Without it, one blocked item blocks the batch.",
		field: func(a *Args) any { return &a.LeaveOut },
	}
	argCanary = Argument{
		Name: "canary", Type: TypeBool, Label: "The first item",
		Help: "Whether the first item runs alone, as the canary, before the groups begin. The default is true.",
		Choices: []Choice{{"true", "runs alone, as the canary"},
			{"false", "begins together with its group"}},
		field: func(a *Args) any { return &a.Canary },
	}
	argGroup = Argument{
		Name: "group", Type: TypeCount, Label: "Items in a group",
		Help:  "After how many items the health of the cluster is checked, 1 to 1,000. The default is 10.",
		Least: 1, Most: MostItems,
		field: func(a *Args) any { return &a.Group },
	}
	argPerShard = Argument{
		Name: "perShard", Type: TypeCount, Label: "At a time on one shard",
		Help: "How many items that give or receive chunks of a shard run at a time, 1 to 16. The default is 1. " +
			"Items of the same collection run one after the other.",
		Least: 1, Most: 16,
		field: func(a *Args) any { return &a.PerShard },
	}
	argChunksPerHour = Argument{
		Name: "chunksPerHour", Type: TypeCount, Label: "Moves an hour",
		Help:  "How many moves begin in an hour at most. Without it, as many as the cluster can do.",
		Least: 0, Most: 100_000,
		field: func(a *Args) any { return &a.ChunksPerHour },
	}
	argBytesPerHour = Argument{
		Name: "bytesPerHour", Type: TypeCount, Label: "Bytes an hour",
		Help:  "How many bytes are moved in an hour at most, by estimate. Without it, as many as the cluster can do.",
		Least: 0, Most: 1 << 50,
		field: func(a *Args) any { return &a.BytesPerHour },
	}
)

// BatchList is the argument of a batch that lists what a change of the kind is about, one item for each:
// "projects" or "chunks". It is "" for a kind whose items are written as plans, or that is not run in
// batches. of is the argument of the single change.
func BatchList(k Kind) (list, of string) {
	switch {
	case slices.Contains(eachProject, k):
		return argProjects.Name, argProject.Name
	case slices.Contains(eachChunk, k):
		return argChunks.Name, argChunk.Name
	}
	return "", ""
}
