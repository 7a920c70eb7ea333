package answer

import (
	"fmt"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/web/words"
)

// readAs says how a question was understood and what it cost the cluster.
func ReadAs(a placement.Answer) string {
	var forms []string
	for _, r := range a.Input.Readings {
		form := words.Code("form", string(r.Form), nil)
		if len(forms) == 0 || forms[len(forms)-1] != form {
			forms = append(forms, form)
		}
	}
	if len(forms) == 0 {
		return ""
	}
	cost := "Answered from the routing table and the list of projects: no query."
	if c := a.Cost; c.Targeted+c.Broadcast > 0 {
		cost = fmt.Sprintf("Cost: %s, %s.", message.Plural(int64(c.Targeted), format.Count(int64(c.Targeted))+" targeted query", format.Count(int64(c.Targeted))+" targeted queries"), message.Plural(int64(c.Broadcast), format.Count(int64(c.Broadcast))+" to all shards", format.Count(int64(c.Broadcast))+" to all shards"))
	}
	return fmt.Sprintf("Read as %s. %s", strings.Join(forms, ", or as "), cost)
}
