// Package rules finds what is wrong with a cluster: every problem there can be,
// in one list, each with a severity, the figures behind it and what helps. The
// overview, the advice page, alerts and the API all show what Evaluate finds, so
// that they cannot disagree.
//
// A rule that cannot decide records why, so that no finding means "checked, and found
// nothing". The same problem has the same id as long as it lasts. Rules
// read nothing: each is a pure function of one Situation, in a file of its own that
// also has its name, its sentences and its remedies.
package rules

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"

	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Problem is something wrong that a rule found.
type Problem struct {
	ID       string // of rule and subject: the same as long as the trouble lasts
	Rule     Rule
	Subject  string // what it is about: a namespace, shard, zone, project; hostile text
	Severity Severity
	Why      message.Message // why it has this severity
	Weight   float64         // orders problems of the same severity, greatest first
	Text     message.Message
	Because  balance.Verdict // the balancer's own rule behind it; zero: none
	Evidence []Evidence
	Remedy   Remedy

	// Consequences are problems that have the same cause and are not listed beside it; ones of writes only.
	Consequences []Problem
	PerSecond    float64 // problems of writes: the writes that it is about, on its shard

	Count int       // objects, if this is one problem about many; else 0
	Parts []Problem // of it: one for each object, the first of them

	NS      topology.Namespace // what it leads to, where there is such a thing
	Project string             // hex id
	Shard   string

	// Since is the first full minute of which a rule on writes found it, and Until when it ended; zero: not known, or it
	// lasts. What is over is listed as long as its figures still have a part of it in them.
	Since, Until time.Time
	From         time.Time // begin of the time that its figures are of; zero: the usual window
	SinceAtLeast bool      // it may have begun earlier: the minute before was not judged

	Chunk    shardkey.Key // lower bound of the chunk in NS; the zero key: no chunk
	Document string       // hex id of a Yorkie document
}

// Evidence is one figure that a problem rests on.
type Evidence struct {
	Name      message.Message
	Unit      string // "bytes", "count", "share", "rate" (per second), "perHour", "time" or "text"
	Known     bool
	Value     float64
	PlusMinus float64
	Exact     bool
	AtLeast   bool
	Text      message.Fact  // for "text": its kind says what may be hidden and linked
	Time      time.Time     // for "time"
	Method    string        // how it was measured, a code of the API
	At        time.Time     // when it was measured
	Over      time.Duration // for rates and shares of writes: the window
	Covered   time.Duration // how much of the window was counted
	Reason    string        // why it is not known, a code of the API
}

// Plan is a change that shardboard can plan. Arguments are named as plans name
// them; at, min, max and bounds are Extended JSON.
type Plan struct {
	Kind string
	Args map[string]string
	Text message.Message // what it would do
}

// Command is one line for mongosh. A check changes nothing; its explanation says
// which result to expect before the next line is typed.
type Command struct {
	Text        string
	Check       bool
	Explanation message.Message
	Plan        string // kind of the remedy's plan that it prepares; "" when it is of use without
}

// Remedy is what would help: plans, the best first, or why there is none; and
// commands to type, in order.
type Remedy struct {
	Plans    []Plan
	WhyNot   message.Message
	Commands []Command
}

// Unsure is something that a rule could not check.
type Unsure struct {
	Rule    Rule
	Subject string // "": everything
	Why     message.Message
	Never   bool // this MongoDB release does not tell: waiting and privileges do not help
}

// Report is everything that the rules say of one situation.
type Report struct {
	At     time.Time
	Items  []Problem // greatest first
	Unsure []Unsure  // by rule
	Passed []Rule    // checked everything and found nothing
}

// idOf is stable, fits into an address, and does not repeat hostile text.
func idOf(r Rule, subject string) string {
	sum := sha256.Sum256([]byte(string(r) + "\x00" + subject))
	return string(r) + "." + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}
