// Package rules finds what is wrong with a cluster: every problem there can be,
// in one list, each with a severity, the figures behind it and what helps. The
// overview, the advice page, alerts and the API all show what Evaluate finds, so
// that they cannot disagree.
//
// A rule that cannot decide says so and why, so that no finding means "checked,
// and found nothing". The same problem has the same id as long as it lasts. Rules
// read nothing: each is a pure function of one Situation, in a file of its own.
package rules

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Rule names one rule; alerts and silences go by these names.
type Rule string

// The rules, in the order in which they are evaluated.
const (
	Unreadable        Rule = "unreadable"
	DrainingStuck     Rule = "draining-stuck"
	BalancerOff       Rule = "balancer-off"
	BalancingPaused   Rule = "balancing-paused"
	ZonesStuck        Rule = "zones-stuck"
	ZoneNoShard       Rule = "zone-no-shard"
	ZoneViolated      Rule = "zone-violated"
	PinViolated       Rule = "pin-violated"
	PinExpired        Rule = "pin-expired"
	MigrationsFailing Rule = "migrations-failing"
	MigrationsBlocked Rule = "migrations-blocked"
	HotShard          Rule = "hot-shard"
	HotChunk          Rule = "hot-chunk"
	HotDocument       Rule = "hot-document"
	HotProject        Rule = "hot-project"
	MonotonicKey      Rule = "monotonic-key"
	Imbalance         Rule = "imbalance"
	Uneven            Rule = "uneven"
	Jumbo             Rule = "jumbo"
	ClientsUnsplit    Rule = "clients-unsplit"
	BigUnsharded      Rule = "big-unsharded"
	SnapshotBodies    Rule = "snapshot-bodies"
	AddShards         Rule = "add-shards"
	Orphans           Rule = "orphans"
	Drift             Rule = "drift"
	Draining          Rule = "draining"
	BalancingOff      Rule = "balancing-off"
	Resharding        Rule = "resharding"
	RouterSilent      Rule = "router-silent"
	RouterVersions    Rule = "router-versions"
	ZoneCut           Rule = "zone-cut"
	ZoneUnknown       Rule = "zone-unknown-project"
	ZoneDropped       Rule = "zone-dropped"
	ZoneEmpty         Rule = "zone-empty"
)

// Severity is how much a problem matters. Lists, alerts and the API use these
// names.
type Severity string

// The severities, greatest first.
const (
	Critical Severity = "critical" // does harm now and will not end by itself: act now
	Warn     Severity = "warn"     // will do harm, or costs speed or safety now: plan to act
	Info     Severity = "info"     // no harm: good to know
)

// Level orders severities: 2 is critical, 0 info or unknown.
func (r Severity) Level() int {
	switch r {
	case Critical:
		return 2
	case Warn:
		return 1
	}
	return 0
}

// Message is a sentence: a catalogue code and its data, hostile text included.
// Arguments named bytes…, share…, rate…, n… and since… are numbers, shares of 1,
// per second, counts and RFC 3339 times to be written for people.
type Message struct {
	Code string
	Args map[string]string
}

func say(code string, args ...string) Message {
	s := Message{Code: code}
	for i := 0; i+1 < len(args); i += 2 {
		if s.Args == nil {
			s.Args = map[string]string{}
		}
		s.Args[args[i]] = args[i+1]
	}
	return s
}

// Problem is one advice.
type Problem struct {
	ID       string // of rule and subject: the same as long as the trouble lasts
	Rule     Rule
	Subject  string // what it is about: a namespace, shard, zone, project; hostile text
	Severity Severity
	Why      Message // why this rank
	Weight   float64 // orders advice of the same rank, greatest first
	Text     Message
	Because  Message // the balancer's own rule behind it, by the codes of package balance; empty: none
	Evidence []Evidence
	Remedy   Remedy

	NS      topology.Namespace // what it leads to, where there is such a thing
	Project string             // hex id
	Shard   string

	Chunk    shardkey.Key // lower bound of the chunk in NS; the zero key: no chunk
	Document string       // hex id of a Yorkie document
}

// Evidence is one figure that an advice rests on.
type Evidence struct {
	Name      Message
	Unit      string // "bytes", "count", "share", "rate" (per second), "perHour", "time" or "text"
	Known     bool
	Value     float64
	PlusMinus float64
	Exact     bool
	AtLeast   bool
	Text      string        // for "text"
	Time      time.Time     // for "time"
	Method    string        // catalogue code
	At        time.Time     // when it was measured
	Over      time.Duration // for rates and shares of writes: the window
	Covered   time.Duration // how much of the window was counted
	Reason    string        // catalogue code when it is not known
}

// Plan is a change that shardboard can plan. Arguments are named as plans name
// them; at, min, max and bounds are Extended JSON.
type Plan struct {
	Kind string
	Args map[string]string
	Text Message // what it would do
}

// Command is one line for mongosh. A check changes nothing; its text says what
// has to come of it before the next line is typed.
type Command struct {
	Text  string
	Check bool
	Say   Message
}

// Remedy is what would help: plans, the best first, or why there is none; and
// commands to type, in order.
type Remedy struct {
	Plans    []Plan
	WhyNot   Message
	Commands []Command
}

// Unsure is a rule that could not tell about something.
type Unsure struct {
	Rule    Rule
	Subject string // "" = anything
	Why     Message
}

// Report is everything that the rules say of one situation.
type Report struct {
	At     time.Time
	Items  []Problem // greatest first
	Unsure []Unsure  // by rule
	Passed []Rule    // looked, could tell, and found nothing
}

// idOf is stable, fits into an address, and does not repeat hostile text.
func idOf(r Rule, subject string) string {
	sum := sha256.Sum256([]byte(string(r) + "\x00" + subject))
	return string(r) + "." + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}
