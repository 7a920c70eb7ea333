package words

// hotSplits are the sentences of plans that split a chunk where its writes are.
var hotSplits = map[string]string{

	"act.split-hot": "Split where it is hot…",

	"reason.title.inPlace":   "No field of the rows tells when they were written.",
	"reason.title.scattered": "Every shard would have to go through all of its rows.",
	"reason.title.noBudget":  "Reading is limited, so that measuring never loads the cluster. Try again in some seconds.",
}
