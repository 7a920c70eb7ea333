package engine

// Label names a run's state for people.
func (s State) Label() string {
	switch s {
	case Planned:
		return "Not started yet"
	case Waiting:
		return "Waiting"
	case Running:
		return "Running"
	case Succeeded:
		return "Done and proven"
	case Failed:
		return "Failed"
	case Refused:
		return "Not sent"
	case Unknown:
		return "Outcome unknown"
	case Stopped:
		return "Stopped"
	case Undone:
		return "Undone"
	case Deferred:
		return "Postponed"
	case Replaced:
		return "Planned again"
	case Skipped:
		return "Skipped"
	}
	return string(s)
}

// StepLabel names a step's state for people.
func (s State) StepLabel() string {
	switch s {
	case Planned:
		return "not begun"
	case Waiting:
		return "waiting"
	case Running:
		return "running"
	case Succeeded:
		return "proven"
	case Failed:
		return "failed"
	case Refused, Stopped:
		return "not sent"
	case Unknown:
		return "outcome unknown"
	case Undone:
		return "undone"
	case Deferred:
		return "postponed"
	case Replaced:
		return "planned again"
	case Skipped:
		return "skipped"
	}
	return string(s)
}

// Meaning says what a run's state means and what to do about it.
func (s State) Meaning() string {
	switch s {
	case Planned:
		return "Its first command has not been sent yet."
	case Waiting:
		return "Nothing is sent meanwhile."
	case Running:
		return "Each step is checked again before it is sent."
	case Succeeded:
		return "The effect of every command was read from the cluster after it."
	case Failed:
		return "Earlier steps stay as they are. The failed step shows what the cluster answered and its state now."
	case Refused:
		return "The cluster is not as planned, so the command was not sent. Earlier steps stay. Make a new plan for the rest."
	case Unknown:
		return "Its answer did not come, or does not say. shardboard keeps reading the cluster to find out and does not send " +
			"the command again. Make a new plan only after this is settled."
	case Stopped:
		return "Earlier steps stay; later ones were not sent."
	case Undone:
		return "A later run undid this one."
	}
	return ""
}
