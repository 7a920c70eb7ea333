package words

// acting are the sentences of plans, runs, their checks and the audit trail.
var acting = map[string]string{
	// How figures of plans are known.
	"method.chunkPart":     "Estimated: half of a chunk’s share, since how much of it is in the range is not known",
	"method.projectShare":  "Estimated from the share of chunks and of the projects in them",
	"method.shareMoved":    "The size now, with the estimate of what moves added or taken off",
	"method.plan":          "Follows from the plan: no data moves",
	"method.changelogRate": "Estimated from the speed of past migrations in the changelog",
	"method.assumedRate":   "Assumed: 10 MB/s and one second a move; no past migration tells better",
	"method.assumedStep":   "Assumed: a tenth of a second a command",
	"method.cloned":        "Counted by the server, in the changelog",
	"method.timed":         "From when the command was sent to when its effect was read",

	// Why a figure of a run or of writes is not known.
	"reason.title.notLogged":  "The server’s changelog has no count of this migration.",
	"reason.title.notPlanned": "The plan has no estimate of this step.",
	"reason.title.notDone":    "No migration has ended yet.",
	"reason.title.inPlace":    "The rows have no date of their last change.",
	"reason.title.scattered":  "Every shard would have to scan all of its rows.",
	"reason.title.noBudget":   "Reading is limited so that measuring never loads the cluster. Try again in a few seconds.",

	"audit.what.run.adapted": "The rest of a run was planned again",
}
