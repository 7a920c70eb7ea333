package api

import (
	"cmp"
	"encoding/json"
	"time"

	"shardboard/internal/format"
	"shardboard/internal/message"
)

// Advice is something that needs attention (GET advice), most urgent first.
type Advice struct {
	ID   string `json:"id"`   // stable while the problem lasts
	Rule string `json:"rule"` // hot-project, balancer-off, …
	Rank string `json:"rank"` // severity under its first name
	// critical: does harm now, act now; warn: will do harm, or costs speed or safety now; info: good
	// to know
	Severity string   `json:"severity"`
	Why      Sentence `json:"why"` // why it has this severity, as a sentence
	Title    Sentence `json:"title"`
	Because  string   `json:"because,omitempty"` // the balancer's rule behind it, as a sentence
	Subject  string   `json:"subject"`
	Count    int      `json:"count"` // objects that it is about; more than one: advice?rule= lists them one by one
	NS       string   `json:"ns,omitempty"`
	Project  string   `json:"project,omitempty"` // hex ObjectID
	Shard    string   `json:"shard,omitempty"`
	// Consequences are problems that have the same cause and are not listed beside it.
	Consequences []AdviceConsequence `json:"consequences"`
	// Since is the first full minute of which a problem of writes was found, and until when it ended; null: not known, or
	// it lasts.
	Since        *time.Time `json:"since"`
	SinceAtLeast bool       `json:"sinceAtLeast,omitempty"` // it may have begun earlier
	Until        *time.Time `json:"until"`
	// Minutes are the writes per second that a problem of writes is about, in each full minute of the last hour,
	// the newest
	// last; null: not counted.
	Minutes  []*float64     `json:"minutes,omitempty"`
	Evidence []AdviceFigure `json:"evidence"`
	Chunk    string         `json:"chunk,omitempty"`    // reference of the chunk in ns
	Document string         `json:"document,omitempty"` // hex ObjectID of a Yorkie document
	Plans    []AdvicePlan   `json:"plans"`              // plans whose checks pass, best first
	Refused  []AdvicePlan   `json:"refused"`            // plans that would help but are blocked; their why says why
	// Expected are the writes per second of the shards before the best plan and as expected after it, as a sentence; "" if
	// no plan helps or that is not known. The plan may be blocked.
	Expected string          `json:"expected,omitempty"`
	WhyNot   string          `json:"whyNot,omitempty"` // why there is no plan, or why it is not enough
	Commands []AdviceCommand `json:"commands"`         // for mongosh, in order
	// pages that say what to do, step by step, the most likely first; empty if the rule has none
	Playbooks []Playbook       `json:"playbooks"`
	Dismiss   *AdviceDismissal `json:"dismissed"` // null: not dismissed
	Taken     *AdviceTaken     `json:"taken"`     // who deals with it; null: nobody

}

// AdviceTaken is who deals with a problem, for a day.
type AdviceTaken struct {
	By   string    `json:"by"`   // account
	Note string    `json:"note"` // "" for none
	At   time.Time `json:"at"`
	Text string    `json:"-"` // the same as a sentence
}

// AdviceConsequence is a problem that follows from another one.
type AdviceConsequence struct {
	ID       string   `json:"id"`
	Rule     string   `json:"rule"`
	Severity string   `json:"severity"`
	Title    Sentence `json:"title"`
}

// InCell is the consequence in a table.
func (c AdviceConsequence) InCell() string { return c.Rule }

// InCell is what the plan does, and why it is refused.
func (p AdvicePlan) InCell() string {
	if p.Why != "" {
		return p.Text + " (" + p.Why + ")"
	}
	return p.Text
}

// InCell is the figure with its name.
func (f AdviceFigure) InCell() string {
	text := f.Text
	switch {
	case f.Value == nil && f.Time != nil:
		text = format.Stamp(*f.Time)
	case f.Value == nil:
		text = cmp.Or(text, "unknown")
	case f.Unit == "bytes":
		text = format.Bytes(int64(*f.Value))
	case f.Unit == "share":
		text = format.Share(*f.Value)
	case f.Unit == "rate":
		text = format.PerSecond(*f.Value) + "/s"
	case f.Unit == "perHour":
		text = format.PerSecond(*f.Value) + " per hour"
	default:
		text = format.Count(int64(*f.Value))
	}
	return f.Name.String() + ": " + text
}

// InCell is the playbook's name.
func (p Playbook) InCell() string { return p.Name }

// Playbook is a page of help about a kind of problem.
type Playbook struct {
	Name string  `json:"name"`
	URL  Address `json:"url"` // /help/…
}

// AdviceFigure is one figure behind an advice; reason says why its value is unknown.
type AdviceFigure struct {
	Name      Sentence   `json:"name"`
	Unit      string     `json:"unit"`  // bytes, count, share, rate (per second), perHour, time or text
	Value     *float64   `json:"value"` // null: not a number, or unknown
	Text      string     `json:"text,omitempty"`
	Time      *time.Time `json:"time,omitempty"`
	PlusMinus float64    `json:"plusMinus,omitempty"`
	Exact     bool       `json:"exact"`
	AtLeast   bool       `json:"atLeast,omitempty"`
	Method    string     `json:"method,omitempty"`
	At        *time.Time `json:"at"`
	Window    string     `json:"window,omitempty"`         // a Go duration
	Covered   float64    `json:"coveredSeconds,omitempty"` // counted part of the window
	Reason    string     `json:"reason,omitempty"`

	Figure message.Message `json:"-"` // the value with its unit; zero if it is unknown
	Approx bool            `json:"-"` // the figure is an estimate
	How    message.Message `json:"-"` // how and when it was measured
}

// ProblemSummary counts the problems in GET advice; the overview's headline shows it.
type ProblemSummary struct {
	Worst     string `json:"worst"` // severity of the worst open problem: critical, warn, info; "" = none
	Headline  string `json:"headline"`
	Critical  int    `json:"critical"`
	Warn      int    `json:"warn"`
	Info      int    `json:"info"`
	Dismissed int    `json:"dismissed"` // dismissed problems that still exist
	Rules     int    `json:"rules"`
	Unchecked int    `json:"unchecked"` // rules that could not be checked completely
	// rules that the cluster's MongoDB release cannot answer; not among unchecked
	NotAvailable int           `json:"notAvailable"`
	Clear        bool          `json:"clear"` // no open problem, and every rule that the release can answer was checked
	Items        []ProblemLine `json:"items"` // open problems, worst first

	Level string `json:"-"` // of the headline: ok, note, warn or bad
}

// ProblemLine is the short form of a problem.
type ProblemLine struct {
	ID       string `json:"id"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Title    string `json:"title"`

	SeverityName string `json:"-"`
	Taken        string `json:"-"` // who deals with it, as a sentence; "" for nobody
	Also         string `json:"-"` // names of what follows from it; "" for nothing
	Why          string `json:"-"` // why it has this severity
	URL          string `json:"-"` // of the page that says more; "" = none

	Playbook Playbook `json:"-"` // the most likely one; zero if there is none
}

// AdvicePlan is the body of a POST to plans.
type AdvicePlan struct {
	Kind string                     `json:"kind"`
	Args map[string]json.RawMessage `json:"args"`
	Text string                     `json:"text"`
	URL  Address                    `json:"url,omitempty"` // URL of the filled-in form; "" where this plan cannot be made
	// of a refused plan: the check that blocks it, or why it does not help
	Why string `json:"why,omitempty"`
	// when a blocked plan will be possible, as a sentence; absent where waiting does not help
	When string `json:"when,omitempty"`
	// Against a problem of writes: the counted writes per second of the shards that change, before it and as expected
	// after it if the same keys are written as often; absent where that is not known.
	Writes    []WriteEffect `json:"writes,omitempty"`
	Expected  string        `json:"expected,omitempty"`  // the same as a sentence
	Busiest   *ShareEffect  `json:"busiest,omitempty"`   // the busiest shard's share of all counted writes
	TooLittle bool          `json:"tooLittle,omitempty"` // it is refused because it moves too few of the writes
	Best      bool          `json:"best,omitempty"`      // leaves the busiest shard fewest writes, of those that help enough; it may be blocked
}

// ShareEffect is a share, 0 to 1, before a plan and as expected after it.
type ShareEffect struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// AdviceCommand is a line for mongosh. A check changes nothing; say is its expected result.
type AdviceCommand struct {
	Text  string   `json:"text"`
	Check bool     `json:"check"`
	Say   Sentence `json:"say"`
}

// AdviceDismissal is somebody's decision to dismiss an advice.
type AdviceDismissal struct {
	ID     string    `json:"id"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`

	Title string `json:"-"` // of a problem that is over
}

// AdviceUnsure is a rule that could not be evaluated.
type AdviceUnsure struct {
	Rule    string   `json:"rule"`
	Subject string   `json:"subject,omitempty"`
	Why     Sentence `json:"why"`
	Never   bool     `json:"notAvailable,omitempty"` // this MongoDB release cannot answer it

	Zone ZoneName `json:"-"` // of Subject, if it is named after a project
}

// AdviceList is the list with rules that could not be evaluated, rules without findings and
// dismissals.
type AdviceList struct {
	Items     []Advice          `json:"items"`
	Next      Cursor            `json:"next"`
	AsOf      time.Time         `json:"asOf"`
	Stale     bool              `json:"stale"`
	Summary   ProblemSummary    `json:"summary"`
	Unsure    []AdviceUnsure    `json:"unsure"`
	Passed    []string          `json:"passed"`
	Dismissed []Advice          `json:"dismissed"` // dismissed advice that still applies
	Over      []AdviceDismissal `json:"over"`      // dismissals of advice that no longer applies

	Kept bool `json:"-"` // dismissals can be stored
}

// Reason is a body with only a reason (POST advice/{id}/dismiss).
type Reason struct {
	Reason string `json:"reason"`
}

// TakeNote is what somebody who takes a problem tells the others; it may be empty.
type TakeNote struct {
	Note string `json:"note"`
}

// Alerts is the alert receivers with the current alerts (GET alerts).
type Alerts struct {
	Freshness
	For      string         `json:"for"` // how long a problem must last, a Go duration
	Targets  []AlertTarget  `json:"targets"`
	Alerts   []Alert        `json:"alerts"`
	Over     []Alert        `json:"over"` // ended within the last day, and every receiver knows; newest first
	Silences []AlertSilence `json:"silences"`

	Level    string `json:"-"` // of the headline: ok, note, warn or bad
	Headline string `json:"-"`
	Checked  bool   `json:"-"` // the problems were read at least once
	Failure  string `json:"-"` // why the last check failed
	Dropped  int    `json:"-"` // problems beyond the limit, which are not followed
	Kept     bool   `json:"-"` // silences and sent messages are stored
}

// AlertTarget is a receiver. Its address is a secret and not in the API.
type AlertTarget struct {
	Name        string         `json:"name"`
	Format      string         `json:"format"`
	MinSeverity string         `json:"minSeverity"`
	Repeat      string         `json:"repeat"`
	Due         int            `json:"due"` // alerts not sent to it yet
	Last        *AlertDelivery `json:"last"`
}

// AlertDelivery is the result of the last message.
type AlertDelivery struct {
	At     time.Time `json:"at"`
	Code   string    `json:"code"` // ok, status, redirect, timeout, refused, dns, tls or network
	Status int       `json:"status,omitempty"`
	Alerts int       `json:"alerts"`
	Test   bool      `json:"test"`
	Failed int       `json:"failed"` // consecutive failures

	Text string `json:"-"` // the result as a phrase
}

// Alert is a problem that is being followed.
type Alert struct {
	ID       string     `json:"id"`
	Rule     string     `json:"rule"`
	Severity string     `json:"severity"`
	State    string     `json:"state"` // pending, firing or resolved; sentTo tells who knows
	Subject  string     `json:"subject"`
	Title    string     `json:"title"`
	Since    time.Time  `json:"since"`
	Fired    *time.Time `json:"fired"`
	Resolved *time.Time `json:"resolved"`
	Silenced bool       `json:"silenced"`
	Playbook Address    `json:"playbook,omitempty"` // address of the page that says what to do
	SentTo   []string   `json:"sentTo"`             // receivers whose last message about it was not its end
	Unsent   bool       `json:"-"`                  // less severe than every receiver wants
}

// AlertSilence suppresses alerts.
type AlertSilence struct {
	ID     string    `json:"id"`
	Alert  string    `json:"alert,omitempty"`
	Rule   string    `json:"rule,omitempty"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	Until  time.Time `json:"until"`

	Title string `json:"-"` // the alert's title or the rule's name
}

// AlertTest names the receiver of a test message (POST alerts/test).
type AlertTest struct {
	Target string `json:"target"`
}

// SilenceStart starts a silence (POST alerts/silences).
type SilenceStart struct {
	Alert  string `json:"alert,omitempty"`
	Rule   string `json:"rule,omitempty"`
	For    string `json:"for"` // a Go duration
	Reason string `json:"reason"`
}

// SilenceEnd ends a silence (POST alerts/silences/end).
type SilenceEnd struct {
	ID string `json:"id"`
}
