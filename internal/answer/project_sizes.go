package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/heat/survey"
)

// ProjectSizes is what surveys found of one project, collection by collection.
func ProjectSizes(found []survey.Finding) []api.ProjectSize {
	out := make([]api.ProjectSize, len(found))
	for i, f := range found {
		c := f.Collection
		one := api.ProjectSize{NS: string(c.NS), Survey: f.Survey, Method: c.Method, At: instant(c.At), Problem: c.Problem}
		line := f.Line
		if line == nil && c.Reason == "" {
			line = &survey.Line{Weight: mostUnseen(c)}
		}
		if line != nil {
			found := surveyLine(*line)
			one.Line = &found
			if found.Dead != nil {
				one.DeadLabel, one.DeadText = survey.DeadLabel(c.NS.Collection()), survey.DeadText(c.NS.Collection())
			}
		}
		out[i] = one
	}
	return out
}

// mostUnseen is what a project of which no row was seen has at most.
func mostUnseen(c *survey.Collection) survey.Weight {
	if c.Unseen != nil {
		return *c.Unseen
	}
	none := survey.Estimate{Exact: true}
	return survey.Weight{Rows: none, Bytes: none}
}
