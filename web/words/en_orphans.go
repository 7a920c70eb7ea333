package words

// orphaned is what is known of orphaned documents, the same on every page.
var orphaned = map[string]string{
	"reason.title.notListed":   "The statistics list the shards that own chunks, and this one owns none.",
	"reason.title.older":       "A range has left since the last count.",
	"method.collStatsOwned":    "Reported by $collStats, orphaned documents taken off",
	"reason.title.logTooShort": "The changelog that is kept here does not reach back 15 minutes.",
}
