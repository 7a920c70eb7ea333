package words

// goals are what a run says of waiting, adapting, and what it leaves behind.
var goals = map[string]string{
	"runstate.deferred":         "Put off",
	"runstate.replaced":         "Planned again",
	"runstate.meaning.deferred": "",
	"runstate.meaning.replaced": "",
	"step.deferred":             "put off",
	"step.replaced":             "planned again",

	"run.obstacle": "Waiting: something is in the way; the step says what.",

	"adapted":       "Adapted at {at}: {after} now left instead of {before}, because:",
	"adapted.not":   "Not adapted at {at}, because:",
	"adapted.goal":  "Adapted at {at}: {after} added, because the cluster had moved away from the goal meanwhile.",
	"adapted.start": "Adapted before the first step, at {at}: {after} instead of {before}, because:",

	"plan.limits.collections": "Collections",
	"plan.limits.zones":       "Zones",
	"plan.limits.shards":      "Shards that may receive chunks",
	"plan.limits.chunks":      "Most moves",
	"plan.limits.bytes":       "Most data left to move",

	"difference.limit":         "Limit of {field}: {want} was confirmed, and {got} would be needed now.",
	"difference.check":         "A check forbids it now: {got}.",
	"difference.goal":          "The goal is not kept: {got} more steps are needed.",
	"field.limit.collections":  "collections",
	"field.limit.zones":        "zones",
	"field.limit.shards":       "receiving shards",
	"field.limit.chunks":       "moves",
	"field.limit.bytes":        "bytes",
	"audit.what.run.adapted":   "The rest of a run was planned again",
	"op.setBalancing.pause":    "Pause balancing of {ns}",
	"op.setBalancing.restore":  "Switch balancing of {ns} on again",
	"op.stopBalancer.pause":    "Pause the balancer",
	"op.startBalancer.restore": "Switch the balancer on again",
}
