package templates

// SurveyForm is what starts a survey.
type SurveyForm struct {
	May   bool
	Needs string // why not
	// Project and DB are filled in on a project's page.
	Project, DB string
}
