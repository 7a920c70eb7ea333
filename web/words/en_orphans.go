package words

// orphaned is what is known of orphaned documents, the same on every page.
var orphaned = map[string]string{
	"fact.orphans":             "Orphaned documents",
	"orphans.counted":          "Counted by the shards. Other figures of documents and data leave them out.",
	"orphans.pending.one":      "Not counted yet: {n} range left in the last 15 minutes, and its documents stay until about {until}.",
	"orphans.pending.many":     "Not counted yet: {n} ranges left in the last 15 minutes, and their documents stay until about {until}.",
	"orphans.pending.short":    "up to {n}",
	"orphans.pending.some":     "possible",
	"orphans.quiet":            "This MongoDB version does not count them. None are expected: no range has left in the last 15 minutes. Figures of documents and data would include them.",
	"orphans.quiet.denied":     "Counting them is not permitted. None are expected: no range has left in the last 15 minutes. Figures of documents and data would include them.",
	"orphans.quiet.other":      "They were not counted. None are expected: no range has left in the last 15 minutes. Figures of documents and data would include them.",
	"orphans.quiet.short":      "none expected",
	"orphans.unknown":          "Neither counted nor in the changelog: {why}.",
	"orphans.unknown.short":    "not known",
	"reason.title.notListed":   "The statistics list the shards that own chunks, and this one owns none.",
	"reason.title.older":       "A range has left since the last count.",
	"method.collStatsOwned":    "Reported by $collStats, orphaned documents taken off",
	"reason.title.logTooShort": "The changelog that is kept here does not reach back 15 minutes.",
}
