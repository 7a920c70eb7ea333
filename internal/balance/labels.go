package balance

import "shardboard/internal/message"

// Label names the rule on pages.
func (r Rule) Label() string {
	switch r {
	case RuleBalancer:
		return "Balancer"
	case RuleWindow:
		return "Active window"
	case RuleTracked:
		return "Sharded"
	case RuleNoBalance:
		return "Collection balancing"
	case RuleMigrations:
		return "Migrations"
	case RuleResharding:
		return "Resharding"
	case RuleJumbo:
		return "Jumbo flag"
	case RuleDraining:
		return "Draining"
	case RuleZone:
		return "Zone"
	case RuleThreshold:
		return "Imbalance"
	case RuleReceiver:
		return "Receiver"
	case RuleTurn:
		return "Order"
	case RuleBusy:
		return "Running moves"
	}
	return string(r)
}

// Label says the outcome in a few words.
func (o Outcome) Label() string {
	switch o {
	case Pass:
		return "OK"
	case Asks:
		return "requires a move"
	case Blocks:
		return "blocks"
	case Waits:
		return "waits"
	case Unknown:
		return "unknown"
	}
	return string(o)
}

// Summary is the decision and its reason, in one or two sentences.
func (e Explanation) Summary() message.Message {
	why := e.Deciding()
	switch e.Decision {
	case Moves:
		return message.New("decision.moves", "It moves to {to} in the balancer's next round, because {why}.",
			message.Shard("to", e.Move.To), message.Coded("why", string(e.Due), e.Due.Label()))
	case Waiting:
		return message.New("decision.waits", "It is due to move because "+e.Due.Label()+", but not in the next round. "+why.Pattern, why.Facts...)
	case Stays:
		return message.New("decision.stays", "It stays. "+why.Pattern, why.Facts...)
	}
	return message.New("decision.unknown", "Whether it moves is not known. "+why.Pattern, why.Facts...)
}

// Deciding is the verdict that the decision rests on: the first that blocks, else is
// unknown, else waits, else the last one, which found no reason to move.
func (e Explanation) Deciding() Verdict {
	for _, o := range []Outcome{Blocks, Unknown, Waits} {
		for _, v := range e.Verdicts {
			if v.Outcome == o {
				return v
			}
		}
	}
	return e.Verdicts[len(e.Verdicts)-1]
}
