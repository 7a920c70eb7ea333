package auditing

import (
	"cmp"
	"strconv"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
)

// auditDetailNames are names for people of the details in records. Others are shown as they are recorded.
var auditDetailNames = map[string]string{
	"kindOfPlan": "change", "undoOf": "undoes run", "op": "command", "why": "reason code", "text": "what happened",
	"kind": "kind of refusal", "inFlight": "step in flight", "need": "role needed", "have": "role of the person", "hash": "plan hash",
}

// AuditDetailText is the name and the value of a detail for people. JSON and exports have the detail as it is recorded.
func AuditDetailText(name, value string) (label, text string) {
	text = value
	switch name {
	case "kindOfPlan":
		text = cmp.Or(actions.Describe(actions.Kind(value)).Title, value)
	case "state":
		text = engine.State(value).StepLabel()
	case "step", "inFlight":
		if n, err := strconv.Atoi(value); err == nil {
			text = strconv.Itoa(n + 1) // counted from 1, as on the page of the run
		}
	}
	return cmp.Or(auditDetailNames[name], name), text
}
