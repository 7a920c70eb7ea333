package answer

import (
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
)

// FillHoldings adds what a project is estimated to hold to the parts of its collections whose figures
// are not known otherwise.
func FillHoldings(v View, p placement.Project, of []api.ProjectCollection) {
	for _, f := range v.Holdings().Findings(p.DB, p.ID) {
		i := slices.IndexFunc(of, func(c api.ProjectCollection) bool { return c.NS == string(f.Collection.NS) })
		if i < 0 || f.Line == nil {
			continue
		}
		for j := range of[i].Shards {
			part := &of[i].Shards[j]
			w := weightOn(f, part.Shard)
			fill(&part.Bytes, w.Bytes, f.Collection)
			fill(&part.Documents, w.Rows, f.Collection)
		}
	}
}

// weightOn is what a finding has on a shard: none, if no row of it was seen there.
func weightOn(f survey.Finding, shard string) survey.Weight {
	for _, s := range f.Line.Shards {
		if s.Shard == shard {
			return s.Weight
		}
	}
	none := survey.Estimate{Exact: f.Line.Rows.Exact}
	return survey.Weight{Rows: none, Bytes: none}
}

// fill replaces a figure that is not known.
func fill(into *api.Figure, e survey.Estimate, c *survey.Collection) {
	switch {
	case into.Value != nil:
	case e.Value == 0 && !e.Exact:
		*into = api.Figure{Reason: "noneSeen"}
	default:
		*into = FigureOf(e.Figure(c.At))
	}
}

// SizesOfProject is the best known size of a project in each collection of its database.
func SizesOfProject(v View, p placement.Project, surveys Surveys) []api.ProjectSize {
	var found []survey.Finding
	if surveys != nil {
		found = surveys.Findings(p.DB, p.ID)
	}
	return ProjectSizes(BestSizes(found, v.Holdings().Findings(p.DB, p.ID), v.Now))
}

// EstimateNote says why sizes by project are not estimated now; "" while they are.
func EstimateNote(v View) string {
	h := v.Holdings()
	if h == nil || h.State == holdings.Measuring {
		return ""
	}
	return v.Own(h.State.Text()).String()
}
