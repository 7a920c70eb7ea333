package words

// surveying are the sentences of the background measurements.
var surveying = map[string]string{
	"survey.what.sample":   "All projects in document-wide collections, sampled",
	"survey.what.projects": "All projects in project-wide collections, counted",
	"survey.what.project":  "One project, counted",
	"survey.what.document": "One document, counted",
	"survey.what.other":    "A survey of kind {code}",
	"survey.state.queued":  "Waits",
	"survey.state.running": "Measures",
	"survey.state.done":    "Done",
	"survey.state.stopped": "Stopped",
	"survey.state.failed":  "Failed",
	"survey.state.other":   "{code}",
	"survey.how.sample":    "Estimated from {n} random rows, weighted by what each shard holds; ± is the 95 % interval for a weighted Poisson count (Fay and Feuer).",
	"survey.how.counted":   "Counted row by row, {n} rows.",
	"survey.how.other":     "Measured by {code}, {n} rows.",
	"survey.short.sample":  "Sampled",
	"survey.short.counted": "Counted",
	"survey.short.other":   "{code}",
	"survey.dead":          "Dead weight",
	"survey.dead.lead":     "What nothing uses any more. Yorkie does not delete it by itself; its designs ask the operator for the clean-up.",

	"survey.dead.documents":     "Removed documents",
	"survey.dead.clients":       "Deactivated clients",
	"survey.dead.revisions":     "Revisions without a document",
	"survey.dead.other":         "Dead rows of {code}",
	"survey.dead.why.documents": "A removed document keeps its row, its changes and its snapshots; only a purge deletes them, and nothing purges by itself.",
	"survey.dead.why.clients":   "Each activation makes a new row and deactivation keeps the old one, so these only ever grow.",
	"survey.dead.why.revisions": "Compaction and purge leave revisions behind. Of a sample, up to 500 documents were looked for.",
	"survey.dead.why.other":     "Nothing uses these rows any more.",
}
