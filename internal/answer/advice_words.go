package answer

import (
	"encoding/json"

	"shardboard/internal/actions"
	"shardboard/internal/rules"
)

// because is the balancer's own rule behind an advice.
func Because(i rules.Problem) string {
	if i.Because.Code == "" {
		return ""
	}
	return i.Because.String()
}

// planArguments are a plan's arguments as its JSON has them. What is not readable
// is left out.
func planArguments(p rules.Plan) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, text := range p.Args {
		x, _ := actions.ArgumentNamed(name)
		if raw, err := x.FromText(text); err == nil {
			out[name] = raw
		}
	}
	return out
}
