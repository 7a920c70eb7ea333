package rules

import (
	"shardboard/internal/message"
)

// ForgedRows finds sessions, approvals and requests to the leader in the store that no process of shardboard
// wrote, as their seals tell.
const ForgedRows Rule = "forged-rows"

var forgedRows = rule{id: ForgedRows, name: "Foreign rows in the store", find: findForgedRows,
	noPlaybook: "somebody writes to the store: docs/security.md says what they can do, and the audit record since when"}

// forgedNames are what the tables hold, for people.
var forgedNames = map[string]string{"sessions": "Sessions", "plan_approvals": "Approvals", "requests": "Requests to the leader"}

func findForgedRows(ev *evaluation) {
	byTable := map[string]int{}
	for _, u := range ev.Unsealed {
		byTable[u.Table]++
	}
	for _, table := range []string{"sessions", "plan_approvals", "requests"} {
		n := byTable[table]
		if n == 0 {
			continue
		}
		p := Problem{
			Subject:  table,
			Severity: Critical,
			Weight:   float64(n),
			Why: message.New("forged.why", "Whoever wrote them can write to the store: they can add accounts and tokens too, which do count. "+
				"It is harmless only if a replica was started with another session key."),
			Text: message.New("forged", message.Plural(n,
				"{what}: one row of the store has no valid seal and does not count.",
				"{what}: {n} rows of the store have no valid seal and do not count."),
				message.Words("what", forgedNames[table]), message.Count("n", n)),
			Remedy: Remedy{WhyNot: message.New("forged.remedy", "Give all replicas the same --session-key. If they have it, change the "+
				"password of the store, compare accounts and tokens with what you expect, and remove the rows. It is listed for a day.")},
		}
		for _, u := range ev.Unsealed {
			if u.Table == table && len(p.Evidence) < 5 {
				p.Evidence = append(p.Evidence, textFrom(message.New("forged.row", "Row"), message.Text("value", u.ID), "watched", u.At))
			}
		}
		ev.add(p)
	}
}
