package templates

// Surveys is the list of measurements.
type Surveys struct {
	Rows  []SurveyRow
	Start SurveyForm
}

// SurveyForm is what starts a survey.
type SurveyForm struct {
	May   bool
	Needs string // why not
	// Project and DB are filled in on a project's page.
	Project, DB string
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
	Asked, Ended      Moment
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
	At        Moment
	Problem   string
	Totals    []Fact
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
	Rows, Bytes Figure
	Dead        Figure
	Shards      []ShardRef
}

// SurveyPanel is what is known of one project's sizes.
type SurveyPanel struct {
	There bool // this server measures
	Rows  []SurveyPanelRow
	Dead  []SurveyDeadRow
	Start SurveyForm
}

// SurveyPanelRow is one collection.
type SurveyPanelRow struct {
	Collection  string
	Rows, Bytes Figure
	How         string
	At          Moment
	URL         string // of the survey
	Problem     string
	Shards      []ShardRef
}

// SurveyDeadRow is something that nothing uses any more.
type SurveyDeadRow struct {
	What, Why   string
	Rows, Bytes Figure
	At          Moment
}
