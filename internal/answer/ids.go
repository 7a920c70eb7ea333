package answer

import (
	"strings"

	"shardboard/internal/format"
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
	cost := words.T("locate.cost.none")
	if c := a.Cost; c.Targeted+c.Broadcast > 0 {
		cost = words.T("locate.cost", "targeted", words.Plural("locate.targeted", int64(c.Targeted), "n", format.Count(int64(c.Targeted))),
			"broadcast", words.Plural("locate.broadcast", int64(c.Broadcast), "n", format.Count(int64(c.Broadcast))))
	}
	return words.T("locate.read", "form", strings.Join(forms, words.T("locate.or")), "cost", cost)
}
