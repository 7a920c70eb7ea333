package words

// hotSplits are the sentences of plans that split a chunk where its writes are.
var hotSplits = map[string]string{
	"change.split-hot": "Split a hot chunk where its writes are",
	"change.lead.split-hot": "The chunk is split at the median of its recent writes, and one half moves to the shard that takes fewest writes. " +
		"Up to 16 hot chunks of one collection go into one plan.",

	"act.split-hot": "Split where it is hot…",

	"arg.chunks":            "Several chunks",
	"arg.cuts":              "As chosen before",
	"arg.to.calmest":        "chosen by the plan",
	"arg.hint.chunks":       "References of chunks, with spaces between them; at most 16 of one collection.",
	"arg.hint.split-hot.at": "Leave empty to split at the median of the recent writes.",
	"arg.hint.split-hot.to": "When left to the plan: the shard that makes the writes of all shards most even.",
}
