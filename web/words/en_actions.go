package words

// acting are the sentences of plans, runs, their checks and the audit trail.
var acting = map[string]string{
	"audit.what.run.adapted": "The rest of a run was planned again",
}
