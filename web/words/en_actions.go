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
}
