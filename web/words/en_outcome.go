package words

// outcomes are the sentences of whether a run helped, and of what its migrations
// cost.
var outcomes = map[string]string{

	"outcome.word.other":     "{code}",
	"outcome.word.helped":    "Yes.",
	"outcome.word.noChange":  "No measurable change.",
	"outcome.word.worse":     "No: the writes are less even.",
	"outcome.word.gathered":  "Less even, as intended.",
	"outcome.word.tooEarly":  "Too early.",
	"outcome.word.running":   "Not known yet.",
	"outcome.word.shared":    "Cannot be attributed to this run.",
	"outcome.word.few":       "Too few writes.",
	"outcome.word.idle":      "Nothing was written.",
	"outcome.word.uncounted": "Cannot be measured.",
	"outcome.word.unchanged": "Nothing to compare.",
	"outcome.word.unread":    "Not known.",

	"outcome.state.other":     "{code}",
	"outcome.state.running":   "Known {minutes} minutes after the run has ended.",
	"outcome.state.tooEarly":  "Known shortly after {at}, when writes have been counted for {minutes} minutes after the run.",
	"outcome.state.few":       "{n} rows were counted before and {m} after; at least 100 are needed in each window.",
	"outcome.state.idle":      "No row was written to these collections, neither before the run nor after it.",
	"outcome.state.unchanged": "This run neither moved nor cut a chunk.",

	"outcome.uncounted.other":      "The writes of {ns} are not counted ({code}).",
	"outcome.uncounted.off":        "Writes are not counted here.",
	"outcome.uncounted.noRecord":   "No writes were counted around this run: shardboard did not run then, or it was an older version.",
	"outcome.uncounted.gap":        "Too little of {ns} was counted: {before} before the run and {after} after it, and at least 120 s are needed of each.",
	"outcome.uncounted.gone":       "{ns} is not known any more.",
	"outcome.uncounted.changed":    "{ns} is not in the sums: its rows are changed in place, and only those of the hottest projects are counted.",
	"outcome.uncounted.unsharded":  "The writes of {ns} are not counted: it is on one shard.",
	"outcome.uncounted.inPlace":    "The writes of {ns} are not counted: its rows are changed in place, and no date says when.",
	"outcome.uncounted.scattered":  "The writes of {ns} are not counted: its shard key does not begin with the project, so each count would ask every shard.",
	"outcome.uncounted.unprofiled": "The writes of {ns} are not counted: the profile does not say how it is written to.",

	"outcome.note.other":           "{code}",
	"outcome.note.gathers":         "This run was to gather writes on one shard: a higher share there is what it is for.",
	"outcome.note.zones":           "This run set zones only. The balancer moves the chunks afterwards, perhaps after these windows.",
	"outcome.note.partial":         "Not all of the windows was counted: {before} before and {after} after, of 600 s each. Rates are of the time that was counted.",
	"outcome.note.hottest":         "Only rows of the hottest projects are counted in these collections: figures are at least so much.",
	"outcome.note.atLeast":         "There were more writes than could be counted: figures are at least so much.",
	"outcome.note.astray":          "More than one write in a hundred could not be placed on a shard and is left out.",
	"outcome.note.migrations.one":  "One migration by others moved a chunk of these collections in that time; part of the difference may be its.",
	"outcome.note.migrations.many": "{n} migrations by others moved chunks of these collections in that time; part of the difference may be theirs.",
	"outcome.note.again":           "Others moved chunks that this run is about again, before the second window was over.",
	"outcome.note.undone":          "The run has been undone since.",

	"cost.step.other":      "{code}",
	"cost.step.copied":     "Copied {documents} documents, {bytes}, in {took}.",
	"cost.step.timed":      "Took {took}; what was copied is not logged.",
	"cost.step.estimated":  "Estimated: {documents} documents, {bytes}, {took}.",
	"cost.step.noEstimate": "Not estimated.",

	"method.cloned":           "Counted by the server, in the changelog",
	"method.timed":            "From when the command was sent to when its effect was read",
	"reason.title.notLogged":  "The server’s changelog has no count of this migration.",
	"reason.title.notPlanned": "The plan has no estimate of this step.",
	"reason.title.notDone":    "No migration has ended yet.",
}
