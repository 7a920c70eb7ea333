package words

// hotSplits are the sentences of plans that split a chunk where its writes are.
var hotSplits = map[string]string{
	"plan.split-hot.lower": "Split the chunk {min} → {max} of {ns} on {shard} at {at} and move the lower half to {to}.",
	"plan.split-hot.upper": "Split the chunk {min} → {max} of {ns} on {shard} at {at} and move the upper half to {to}.",
	"plan.split-hot.many":  "Split {chunks} hot chunks of {ns} where their writes divide, and move one half of each: to {shards}.",
	"plan.split-hot.none":  "Split hot chunks of {ns} where their writes divide ({chunks} named): not possible, see the checks.",
	"undo.split-hot":       "The half that was moved is moved back, and both are merged again.",
	"undo.split-hot.many":  "The halves that were moved are moved back, and {chunks} chunks are merged again.",
	"change.split-hot":     "Split a hot chunk where its writes are",
	"change.lead.split-hot": "The chunk is split at the median of its recent writes, and one half moves to the shard that takes fewest writes. " +
		"Up to 16 hot chunks of one collection go into one plan.",

	"act.split-hot": "Split where it is hot…",

	"arg.chunks":            "Several chunks",
	"arg.cuts":              "As chosen before",
	"arg.to.calmest":        "chosen by the plan",
	"arg.hint.chunks":       "References of chunks, with spaces between them; at most 16 of one collection.",
	"arg.hint.split-hot.at": "Leave empty to split at the median of the recent writes.",
	"arg.hint.split-hot.to": "When left to the plan: the shard that makes the writes of all shards most even.",

	"plan.writes":       "Writes, as expected",
	"plan.writes.lead":  "Rows a second over the last quarter of an hour, of what is counted; after the plan, if the same keys are written as often.",
	"plan.writes.rate":  "{rate} writes/s",
	"plan.writes.title": "An estimate from the writes of the last quarter of an hour",

	"check.writes.divides":     "{rows} rows were written to the chunk at {min} in {seconds} s. A split at {key} leaves {share} of these writes below it and the others from it on.",
	"check.writes.unknown":     "Where the chunk of {ns} at {min} is written to is not known: {reason}. To split it anyway, in the middle of its documents or at a key, plan “split”.",
	"check.writes.few":         "Only {rows} rows were seen to be written to the chunk of {ns} at {min} in {seconds} s; {least} are needed to find a median. Wait, or plan “split” to split it in the middle of its documents.",
	"check.writes.growing":     "The newest of the {rows} rows read have the greatest keys of the chunk of {ns} at {min}: new writes will all go to its upper end, and no split of {key} divides them. What helps: {remedy}.",
	"check.writes.oneValue":    "One shard-key value of {ns}, {value}, takes {share} of the {rows} writes that were seen in {seconds} s; no split divides it. Move the whole chunk at {min} to a shard with fewer writes, or make the key finer: {remedy}.",
	"check.writes.oneProject":  "One shard-key value of {ns}, {value} (project {project}), takes {share} of the {rows} writes that were seen in {seconds} s; no split divides it. Move the whole chunk at {min} to a shard with fewer writes, or make the key finer: {remedy}.",
	"check.writes.oneDocument": "One shard-key value of {ns}, {value} (document {document}, project {project}), takes {share} of the {rows} writes that were seen in {seconds} s; no split divides it. Move the whole chunk at {min} to a shard with fewer writes, or make the key finer: {remedy}.",
	"check.writes.noKey":       "None of the written shard-key values of {ns} in the chunk at {min} can be split at: they are not of the types that {key} has by the profile.",
	"check.writes.busiest":     "More shard-key values of {ns} were written with than could be counted: for the chunk at {min} the split divides the writes of the busiest.",
	"check.writes.onlyNew":     "Only new rows of {ns} were read; rows that are changed in place were not seen.",
	"check.writes.unseen":      "Where the chunk of {ns} at {min} is written to is not known ({reason}); it is split at the given key {key}.",
	"check.writes.none":        "No writes to the chunk of {ns} at {min} were seen in {seconds} s; it is split at the given key {key}.",
	"check.writes.oneSide":     "All {rows} writes to the chunk of {ns} at {min} that were seen in {seconds} s are on one side of the given key {key}.",
	"check.left-out.one":       "One of the named chunks is left out: a check says why.",
	"check.left-out.many":      "{chunks} of the named chunks are left out: the checks say why.",
	"check.even.waits":         "{to} would even the writes out most, but may still have to delete rows that it gave away of the chunk of {ns} at {min}; until then a move there fails after 10 s. Wait a quarter of an hour, or name a shard as “to”.",
	"check.even.moves":         "{shard} takes about {before} writes/s and then {after}; {to} takes {tobefore} and then {toafter}.",
	"check.even.worse":         "{shard} takes about {before} writes/s and then {after}; {to} takes {tobefore} and then {toafter}: the writes are not more even after it.",
	"check.even.given":         "Which of {shard} and {to} takes more writes is not known; the half with less data moves.",
	"check.even.unknown":       "Which shard takes fewest writes is not known, so none can be chosen for half of the chunk of {ns} at {min}. Name one as “to”.",
	"check.even.nowhere":       "No other shard may have a half of the chunk of {ns} at {min}: each is outside of its zone, is being emptied, is full, or has rows with the same ids.",
	"check.even.already":       "No shard that may have a half of the chunk of {ns} at {min} takes so few writes that they would be more even after a move from {shard}.",

	"source.writes.counted":     "Writes counted until {at}",
	"source.writes.newestRows":  "Newest rows, read at {at}",
	"source.writes.changedRows": "Rows changed last, read at {at}",

	"heat.plan.splitHot": "Plan to split it where its writes are",

	"reason.inPlace":         "its rows are changed in place and no date says when",
	"reason.scattered":       "its rows have a date, but the shard key does not begin with the project",
	"reason.noBudget":        "the reading budget is used up for some seconds; try again",
	"reason.title.inPlace":   "No field of the rows tells when they were written.",
	"reason.title.scattered": "Every shard would have to go through all of its rows.",
	"reason.title.noBudget":  "Reading is limited, so that measuring never loads the cluster. Try again in some seconds.",
}
