package api

import (
	"encoding/json"
	"time"
)

// Advice is what somebody should look at (GET advice), most pressing first.
type Advice struct {
	ID       string           `json:"id"`       // the same as long as the trouble lasts
	Rule     string           `json:"rule"`     // hot-project, balancer-off, …
	Rank     string           `json:"rank"`     // the same as severity, under the name it had first
	Severity string           `json:"severity"` // critical: does harm now, act now; warn: will do harm, or costs speed or safety now; info: good to know
	Why      string           `json:"why"`      // why it has this severity, a sentence
	Title    string           `json:"title"`
	Because  string           `json:"because,omitempty"` // the balancer's rule behind it, a sentence
	Subject  string           `json:"subject"`
	NS       string           `json:"ns,omitempty"`
	Project  string           `json:"project,omitempty"` // hex ObjectID
	Shard    string           `json:"shard,omitempty"`
	Evidence []AdviceFigure   `json:"evidence"`
	Chunk    string           `json:"chunk,omitempty"`    // reference of the chunk in ns that it is about
	Document string           `json:"document,omitempty"` // hex ObjectID of a Yorkie document
	Plans    []AdvicePlan     `json:"plans"`              // that their own checks let run, the best first
	Refused  []AdvicePlan     `json:"refused"`            // that would help and cannot be run now; why says why
	WhyNot   string           `json:"whyNot,omitempty"`   // why there is no plan, or why it is not enough
	Commands []AdviceCommand  `json:"commands"`           // for mongosh, in order
	Dismiss  *AdviceDismissal `json:"dismissed"`          // null: nobody has
}

// AdviceFigure is one figure that an advice rests on; with an unknown value,
// reason says why.
type AdviceFigure struct {
	Name      string     `json:"name"`
	Unit      string     `json:"unit"`  // bytes, count, share, rate (per second), perHour, time or text
	Value     *float64   `json:"value"` // null: not a number, or not known
	Text      string     `json:"text,omitempty"`
	Time      *time.Time `json:"time,omitempty"`
	PlusMinus float64    `json:"plusMinus,omitempty"`
	Exact     bool       `json:"exact"`
	AtLeast   bool       `json:"atLeast,omitempty"`
	Method    string     `json:"method,omitempty"`
	At        *time.Time `json:"at"`
	Window    string     `json:"window,omitempty"`         // a Go duration
	Covered   float64    `json:"coveredSeconds,omitempty"` // of the window; what was not counted says nothing
	Reason    string     `json:"reason,omitempty"`
}

// ProblemSummary counts the problems that GET advice lists. It is what the
// overview's headline says.
type ProblemSummary struct {
	Worst     string        `json:"worst"` // severity of the worst open problem: critical, warn, info; "" = none is open
	Headline  string        `json:"headline"`
	Critical  int           `json:"critical"`
	Warn      int           `json:"warn"`
	Info      int           `json:"info"`
	Dismissed int           `json:"dismissed"` // that are there and that somebody dismissed
	Rules     int           `json:"rules"`
	Unchecked int           `json:"unchecked"` // rules that could not be checked, wholly or in part
	Clear     bool          `json:"clear"`     // no problem is open, and every rule could be checked
	Items     []ProblemLine `json:"items"`     // open ones, greatest first
}

// ProblemLine is one problem in short.
type ProblemLine struct {
	ID       string `json:"id"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
}

// AdvicePlan is the body of a POST to plans.
type AdvicePlan struct {
	Kind string                     `json:"kind"`
	Args map[string]json.RawMessage `json:"args"`
	Text string                     `json:"text"`
	URL  string                     `json:"url,omitempty"` // of the filled-in form; "" where plans are not made, or not of this
	Why  string                     `json:"why,omitempty"` // of a refused one: the check that blocks it
}

// AdviceCommand is a line to type. A check changes nothing; say tells what has
// to come of it.
type AdviceCommand struct {
	Text  string `json:"text"`
	Check bool   `json:"check"`
	Say   string `json:"say"`
}

// AdviceDismissal is somebody's decision.
type AdviceDismissal struct {
	ID     string    `json:"id"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// AdviceUnsure is a rule that could not tell.
type AdviceUnsure struct {
	Rule    string `json:"rule"`
	Subject string `json:"subject,omitempty"`
	Why     string `json:"why"`
}

// AdviceList is a list with what is beside it: what could not be told, which
// rules found nothing, and what people dismissed.
type AdviceList struct {
	Items     []Advice          `json:"items"`
	Next      Cursor            `json:"next"`
	AsOf      time.Time         `json:"asOf"`
	Stale     bool              `json:"stale"`
	Summary   ProblemSummary    `json:"summary"`
	Unsure    []AdviceUnsure    `json:"unsure"`
	Passed    []string          `json:"passed"`
	Dismissed []Advice          `json:"dismissed"` // that are there still
	Over      []AdviceDismissal `json:"over"`      // dismissals of what is no longer there
}

// Reason is the body of what wants one (POST advice/{id}/dismiss).
type Reason struct {
	Reason string `json:"reason"`
}

// Alerts is who is told of what (GET alerts).
type Alerts struct {
	Freshness
	For      string         `json:"for"` // how long a trouble has to last, a Go duration
	Targets  []AlertTarget  `json:"targets"`
	Alerts   []Alert        `json:"alerts"`
	Silences []AlertSilence `json:"silences"`
}

// AlertTarget is a receiver. Its address is a secret and nowhere in the API.
type AlertTarget struct {
	Name        string         `json:"name"`
	Format      string         `json:"format"`
	MinSeverity string         `json:"minSeverity"`
	Repeat      string         `json:"repeat"`
	Due         int            `json:"due"` // alerts that it has not been told of yet
	Last        *AlertDelivery `json:"last"`
}

// AlertDelivery is how the last message went.
type AlertDelivery struct {
	At     time.Time `json:"at"`
	Code   string    `json:"code"` // ok, status, redirect, timeout, refused, dns, tls or network
	Status int       `json:"status,omitempty"`
	Alerts int       `json:"alerts"`
	Test   bool      `json:"test"`
	Failed int       `json:"failed"` // in a row
}

// Alert is a trouble as it is followed.
type Alert struct {
	ID       string     `json:"id"`
	Rule     string     `json:"rule"`
	Severity string     `json:"severity"`
	State    string     `json:"state"` // pending, firing or resolved
	Subject  string     `json:"subject"`
	Title    string     `json:"title"`
	Since    time.Time  `json:"since"`
	Fired    *time.Time `json:"fired"`
	Resolved *time.Time `json:"resolved"`
	Silenced bool       `json:"silenced"`
}

// AlertSilence keeps alerts from being told.
type AlertSilence struct {
	ID     string    `json:"id"`
	Alert  string    `json:"alert,omitempty"`
	Rule   string    `json:"rule,omitempty"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	Until  time.Time `json:"until"`
}

// AlertTest names the receiver of a test message (POST alerts/test).
type AlertTest struct {
	Target string `json:"target"`
}

// SilenceStart begins a silence (POST alerts/silences).
type SilenceStart struct {
	Alert  string `json:"alert,omitempty"`
	Rule   string `json:"rule,omitempty"`
	For    string `json:"for"` // a Go duration
	Reason string `json:"reason"`
}

// SilenceEnd ends one (POST alerts/silences/end).
type SilenceEnd struct {
	ID string `json:"id"`
}
