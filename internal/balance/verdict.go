package balance

import "strconv"

// Outcome is what one rule says of a chunk.
type Outcome string

// What a rule can say. A chunk moves when some rule asks for it and none blocks.
const (
	Pass    Outcome = "pass"    // does not stand in the way
	Asks    Outcome = "asks"    // wants the chunk on another shard
	Blocks  Outcome = "blocks"  // keeps the chunk where it is
	Waits   Outcome = "waits"   // keeps it for this round only
	Unknown Outcome = "unknown" // what the rule looks at is not known here
)

// Rule names one rule of the balancer.
type Rule string

// The rules in the order in which they are told.
const (
	RuleBalancer   Rule = "balancer"        // is it on?
	RuleWindow     Rule = "window"          // may it run at this hour?
	RuleTracked    Rule = "tracked"         // is the collection one that has chunks to balance? (8.0 on)
	RuleNoBalance  Rule = "noBalance"       // is the collection left alone?
	RuleMigrations Rule = "allowMigrations" // are migrations of it refused?
	RuleResharding Rule = "resharding"      // is it being rebuilt?
	RuleJumbo      Rule = "jumbo"           // is the chunk flagged too big to move?
	RuleDraining   Rule = "draining"        // is its shard being emptied?
	RuleZone       Rule = "zone"            // is its shard outside of its zone?
	RuleThreshold  Rule = "threshold"       // is its shard too full?
	RuleReceiver   Rule = "receiver"        // is there a shard that may take it?
	RuleTurn       Rule = "turn"            // do other chunks of the shard go first?
	RuleBusy       Rule = "busy"            // is a migration of these shards under way?
)

// Verdict is what one rule says of one chunk: the code names the sentence, the
// arguments are its data (hostile text included).
type Verdict struct {
	Rule    Rule
	Outcome Outcome
	Code    string
	Args    map[string]string
}

// Decision is what all rules come to.
type Decision string

// What becomes of a chunk.
const (
	Moves     Decision = "moves"   // in the next round
	Waiting   Decision = "waits"   // it is due, in a later round
	Stays     Decision = "stays"   // some rule keeps it
	Undecided Decision = "unknown" // rules that decide are not known
)

// Explanation is every rule's verdict on one chunk.
type Explanation struct {
	Decision Decision
	Verdicts []Verdict
	Move     *Move // the move of the next round; nil unless Decision is Moves
	Due      Reason
}

// decide weighs the verdicts: what blocks wins, then what is not known, then
// what waits.
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

func verdict(rule Rule, o Outcome, code string, args ...string) Verdict {
	v := Verdict{Rule: rule, Outcome: o, Code: string(rule) + "." + code}
	for i := 0; i+1 < len(args); i += 2 {
		if v.Args == nil {
			v.Args = map[string]string{}
		}
		v.Args[args[i]] = args[i+1]
	}
	return v
}

func number(n int) string { return strconv.Itoa(n) }
