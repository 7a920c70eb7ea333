package balance

import (
	"shardboard/internal/message"
)

// Outcome is the result of one rule for a chunk.
type Outcome string

// The outcomes. A chunk moves when a rule asks for it and none blocks.
const (
	Pass    Outcome = "pass"    // allows the move
	Asks    Outcome = "asks"    // requires a move to another shard
	Blocks  Outcome = "blocks"  // keeps the chunk where it is
	Waits   Outcome = "waits"   // keeps the chunk for this round only
	Unknown Outcome = "unknown" // the data that the rule needs is not known
)

// Rule names one rule of the balancer.
type Rule string

// The rules in display order.
const (
	RuleBalancer   Rule = "balancer"        // is it on?
	RuleWindow     Rule = "window"          // may it run at this hour?
	RuleTracked    Rule = "tracked"         // is the collection sharded, not just tracked? (8.0 on)
	RuleNoBalance  Rule = "noBalance"       // is balancing of the collection off?
	RuleMigrations Rule = "allowMigrations" // are migrations of it forbidden?
	RuleResharding Rule = "resharding"      // is it being resharded?
	RuleJumbo      Rule = "jumbo"           // is the chunk marked as too big to move?
	RuleDraining   Rule = "draining"        // is its shard draining?
	RuleZone       Rule = "zone"            // is its shard outside of its zone?
	RuleThreshold  Rule = "threshold"       // is its shard too full?
	RuleReceiver   Rule = "receiver"        // is there a shard that may receive it?
	RuleTurn       Rule = "turn"            // do other chunks of the shard move first?
	RuleBusy       Rule = "busy"            // is a migration of these shards running?
)

// Verdict is the result of one rule for one chunk. Its message has the reason; the
// message's code begins with the rule.
type Verdict struct {
	Rule    Rule
	Outcome Outcome
	message.Message
}

// Decision is the combined result of all rules.
type Decision string

// What becomes of a chunk.
const (
	Moves     Decision = "moves"   // in the next round
	Waiting   Decision = "waits"   // due, but in a later round
	Stays     Decision = "stays"   // some rule keeps it
	Undecided Decision = "unknown" // a deciding rule is unknown
)

// Explanation has the verdicts of all rules on one chunk.
type Explanation struct {
	Decision Decision
	Verdicts []Verdict
	Move     *Move // the move of the next round; nil unless Decision is Moves
	Due      Reason
}

// decide combines the verdicts: Blocks has precedence, then Unknown, then Waits.
func decide(verdicts []Verdict) Decision {
	has := map[Outcome]bool{}
	for _, v := range verdicts {
		has[v.Outcome] = true
	}
	switch {
	case has[Blocks]:
		return Stays
	case has[Unknown]:
		return Undecided
	case !has[Asks]:
		return Stays
	case has[Waits]:
		return Waiting
	}
	return Moves
}

func verdict(rule Rule, o Outcome, code, pattern string, facts ...message.Fact) Verdict {
	return Verdict{rule, o, message.New(string(rule)+"."+code, pattern, facts...)}
}
