package advice

import (
	"shardboard/web/templates"
)

// Advice is the model of the page of what to look at.
type Advice struct {
	State      templates.State
	Level      string // "ok", "note", "bad"
	Verdict    string
	Lead       string
	Items      []AdviceItem
	Unsure     []AdviceUnsure
	Passed     string
	Dismissed  []AdviceDismissed
	Severities []SeverityMeaning
	NoPlans    string // why no remedy has a link
	MayDismiss bool
	Kept       bool // decisions can be kept
}

// SeverityMeaning is what a severity means.
type SeverityMeaning struct{ Value, Name, Text string }

// AdviceItem is one advice with its figures and remedies.
type AdviceItem struct {
	ID, Rule       string
	Rank, RankText string
	Title, Because string
	Why            string
	Links          []templates.Link
	Evidence       []AdviceFigureModel
	Plans          []AdvicePlan
	WhyNot         string
	Commands       []AdviceCommand
}

// AdviceFigure is a figure with how and when it was had, in words.
type AdviceFigureModel struct {
	Name string
	templates.Figure
	How string
}

// AdvicePlan is a plan that would help: with the address of its filled-in form
// where it can be made, or with why it cannot be run now.
type AdvicePlan struct {
	Text string
	URL  string
	Why  string
}

// AdviceCommand is a line to type and what to know about it.
type AdviceCommand struct {
	Text, Say string
	Check     bool
}

// AdviceUnsure is a rule that could not tell.
type AdviceUnsure struct{ Rule, Subject, Why string }

// AdviceDismissed is a decision.
type AdviceDismissed struct {
	ID, Title      string
	Rank, RankText string
	By, Reason     string
	At             templates.Moment
}

// Alerts is the model of the page of who is told.
type Alerts struct {
	State    templates.State
	Level    string
	Verdict  string
	Lead     string
	Notes    []templates.State
	Targets  []AlertTarget
	Alerts   []AlertRow
	Silences []SilenceRow
	Rules    []templates.Option
	May      bool // test and silence
	Keeps    bool
}

// AlertTarget is a receiver; its address is nowhere.
type AlertTarget struct {
	Name, Format, Least, Repeat string
	Last                        templates.Moment
	LastText                    string
	Failed                      bool
	Due                         templates.Figure
}

// AlertRow is one alert.
type AlertRow struct {
	ID, Title, Rule    string
	Severity, RankText string
	State              string
	Since              templates.Moment
	Silenced           bool
}

// SilenceRow is one silence.
type SilenceRow struct {
	ID, Of, By, Reason string
	Until              string
}
