package history

// Label is the outcome as lists show it.
func (o Outcome) Label() string {
	if o == Aborted {
		return "failed"
	}
	return string(o)
}

// Phase says what is known of a migration that has no end in the log: a donor
// logs the begin and the commit, and its steps only when all are over.
func (o Outcome) Phase() string {
	switch o {
	case Running:
		return "Copying"
	case Committed:
		return "Moved; the donor is cleaning up"
	case Unclear:
		return "Started, but no end is logged: the donor may have failed over"
	}
	return string(o)
}

// Label is who caused a change.
func (b By) Label() string {
	switch b {
	case ByUs:
		return "a run of shardboard"
	case ByBalancer:
		return "balancer"
	case ByOther:
		return "somebody else"
	case ByUnknown:
		return "not known"
	}
	return string(b)
}

// Label is who caused a change, and whether that is inferred.
func (c Cause) Label() string {
	if c.Inferred {
		return c.By.Label() + " (inferred)"
	}
	return c.By.Label()
}

// Evidence says how the cause is known, or why it is not.
func (c Cause) Evidence() string {
	if text, ok := evidence[c.Basis]; ok {
		return text
	}
	return c.Basis
}

// evidence has a sentence for each Cause.Basis.
var evidence = map[string]string{
	"run":           "The namespace, bounds, shards and time match the run.",
	"automerge":     "The server logged it as an automatic merge.",
	"anybody":       "Splits and merges caused by writes, by zones and by people look alike in the changelog.",
	"settings":      "The balancer's settings at that time are not known.",
	"balancerOff":   "No run of shardboard matches, and the balancer was off.",
	"collectionOff": "No run of shardboard matches, and the balancer is not allowed to move chunks of this collection.",
	"rounds": "No run of shardboard matches, and the balancer logged a round that moved chunks at that time; " +
		"a person may have done it all the same.",
	"noRound":      "No run of shardboard matches, and the balancer logged no round that moved chunks at that time.",
	"roundsOpen":   "No run of shardboard matches; the balancer logs a round when it ends, so this is not known yet.",
	"roundsGone":   "No run of shardboard matches, and the part of the balancer's log that is read does not reach back so far.",
	"roundsUnread": "No run of shardboard matches, and the balancer's log has not been read.",
	"roundsDenied": "No run of shardboard matches, and reading the balancer's log is not permitted: it needs find on config.actionlog.",
}
