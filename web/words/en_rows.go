package words

// counted are the sentences of rows that were counted before and after a run,
// and of ranges that were cleaned up.
var counted = map[string]string{

	"run.rows.not.other":        "{ns}: rows not counted ({code}).",
	"run.rows.not.pending":      "{ns}: rows not counted yet.",
	"run.rows.not.tooMany":      "{ns}: not counted: more than {most} rows.",
	"run.rows.not.tooSlow":      "{ns}: not counted: it took too long.",
	"run.rows.not.notPermitted": "{ns}: not counted: the cluster does not permit it.",
	"run.rows.not.unreachable":  "{ns}: not counted: the cluster did not answer.",
	"run.rows.not.interrupted":  "{ns}: not counted: the run was stopped, or the program ended.",
	"run.rows.not.nothingSent":  "{ns} had {before} rows of the project; nothing was sent, so they were not counted again.",
}
