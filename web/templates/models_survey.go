package templates

// SurveyForm is what starts a survey.
type SurveyForm struct {
	May   bool
	Needs string // why not
	// Project and DB are filled in on a project's page.
	Project, DB string
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
