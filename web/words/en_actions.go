package words

// acting are the sentences of plans, runs, their checks and the audit trail.
var acting = map[string]string{}
