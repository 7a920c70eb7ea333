package answer

import (
	"encoding/json"

	"shardboard/internal/rules"
)

// because is the balancer's own rule behind an advice.
func Because(i rules.Problem) string {
	if i.Because.Code == "" {
		return ""
	}
	return i.Because.String()
}

// planArguments are a plan's arguments as its JSON has them: bounds and keys are
// Extended JSON, some are numbers or true, the rest is text.
func planArguments(p rules.Plan) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, text := range p.Args {
		switch name {
		case "at", "min", "max", "bounds", "parts", "on", "force":
			if json.Valid([]byte(text)) {
				out[name] = json.RawMessage(text)
			}
		default:
			out[name], _ = json.Marshal(text) // a string can be marshalled
		}
	}
	return out
}
