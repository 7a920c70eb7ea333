package surveys

import (
	"shardboard/web/templates"
)

// Surveys is the list of measurements.
type Surveys struct {
	Rows  []SurveyRow
	Start templates.SurveyForm
}

// SurveyRow is one measurement.
type SurveyRow struct {
	ID, URL, What, Of string // Of: which project or document
	OfURL             string
	State, Code       string
	Open              bool   // queued or running
	StopURL           string // "" = may not be stopped, or not by this reader
	Done, Total       string
	Share             float64 // < 0: not known
	Left              string
	Paced             string
	Asked, Ended      templates.Moment
	By, Problem       string
}

// SurveyDetail is one measurement with what it found.
type SurveyDetail struct {
	Row         SurveyRow
	Collections []SurveyCollection
}

// SurveyCollection is what it found in one collection.
type SurveyCollection struct {
	NS, URL   string
	How       string // method in a sentence
	At        templates.Moment
	Problem   string
	Totals    []templates.Fact
	Projects  []SurveyLine
	More      string
	Unseen    string
	Dead      string // head of the column; "" = there is none
	Documents []SurveyLine
}

// SurveyLine is what a project or a Yorkie document has.
type SurveyLine struct {
	Name, URL   string
	Mono        bool
	Rows, Bytes templates.Figure
	Dead        templates.Figure
	Shards      []templates.ShardRef
}
