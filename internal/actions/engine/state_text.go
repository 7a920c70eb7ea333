package engine

import "cmp"

// stateTexts are, of a state: a run's label, a step's label, and what a run's state means and what to do about it.
var stateTexts = map[State]struct{ label, step, meaning string }{
	Planned:   {"Not started yet", "not begun", "Its first command has not been sent yet."},
	Waiting:   {"Waiting", "waiting", "Nothing is sent meanwhile."},
	Running:   {"Running", "running", "Each step is checked again before it is sent."},
	Succeeded: {"Done and proven", "proven", "The effect of every command was read from the cluster after it."},
	Failed: {"Failed", "failed",
		"Earlier steps stay as they are. The failed step shows what the cluster answered and its state now."},
	Refused: {"Not sent", "not sent",
		"The cluster is not as planned, so the command was not sent. Earlier steps stay. Make a new plan for the rest."},
	Unknown: {"Outcome unknown", "outcome unknown",
		"Its answer did not come, or does not say. shardboard keeps reading the cluster to find out and does not send " +
			"the command again. Make a new plan only after this is settled."},
	Stopped:  {"Stopped", "not sent", "Earlier steps stay; later ones were not sent."},
	Undone:   {"Undone", "undone", "A later run undid this one."},
	Deferred: {"Postponed", "postponed", ""},
	Replaced: {"Planned again", "planned again", ""},
	Skipped:  {"Skipped", "skipped", ""},
}

// Label names a run's state for people.
func (s State) Label() string { return cmp.Or(stateTexts[s].label, string(s)) }

// StepLabel names a step's state for people.
func (s State) StepLabel() string { return cmp.Or(stateTexts[s].step, string(s)) }

// Meaning says what a run's state means and what to do about it.
func (s State) Meaning() string { return stateTexts[s].meaning }
