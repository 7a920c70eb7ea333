package surveys

import (
	"fmt"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/heat/survey"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// surveyRow puts a survey into words.
func surveyRow(v answer.View, s survey.Survey, may bool) SurveyRow {
	out := SurveyRow{
		ID: s.ID, URL: "/surveys/" + s.ID, What: words.Code("survey.what", string(s.Request.Kind), nil),
		State: words.Code("survey.state", string(s.State), nil), Code: string(s.State), Open: !s.State.Ended(),
		Done: format.Count(s.Progress.Done), Share: -1, Asked: templates.Ago(s.Queued, v.Now), By: s.By, Problem: s.Problem,
	}
	switch s.Request.Kind {
	case survey.Project:
		out.Of, out.OfURL = s.Request.Project.Hex(), "/projects/"+s.Request.Project.Hex()
		if p, ok := v.Dir.In(s.Request.DB, s.Request.Project); ok {
			out.Of = answer.NameOf(p)
		}
	case survey.Document:
		out.Of, out.OfURL = s.Request.Document.Hex(), "/locate?q="+s.Request.Document.Hex()
	default:
		if out.Of = string(s.Request.NS); out.Of == "" {
			out.Of = s.Request.DB
		}
	}
	if s.Progress.Total >= 0 {
		out.Total = format.Count(s.Progress.Total)
		if out.Share = answer.Share(s.Progress.Done, s.Progress.Total); out.Share > 1 {
			out.Share = 1
		}
	}
	if !s.Ended.IsZero() {
		out.Ended = templates.Ago(s.Ended, v.Now)
	}
	if !out.Open {
		return out
	}
	if may {
		out.StopURL = out.URL + "/stop"
	}
	out.Left = "how long it takes is not known"
	if s.Progress.Left >= 0 {
		out.Left = "about " + format.Span(s.Progress.Left) + " left"
	}
	if s.Progress.PacedDown {
		out.Paced = "Paced down: the cluster answers slower than before."
	}
	return out
}

// surveyCollection puts what was found in one collection into words.
func surveyCollection(v answer.View, c survey.Collection) SurveyCollection {
	out := SurveyCollection{
		NS: string(c.NS), URL: answer.CollectionURL(c.NS), Problem: c.Problem, At: templates.Ago(c.At, v.Now),
		How: words.Code("survey.how", c.Method, map[string]string{"n": format.Count(c.Read)}),
		Totals: []templates.Fact{
			{Name: "Rows in all", Figure: parts.CountFigure(c.Rows)},
			{Name: "Bytes in all", Figure: parts.BytesFigure(c.Bytes)},
			{Name: "Orphaned documents (left out)", Figure: parts.CountFigure(c.Orphans)},
		},
	}
	if c.Checked > 0 {
		out.Totals = append(out.Totals, templates.Fact{Name: "Documents looked for", Figure: parts.Exact(c.Checked)})
	}
	r := parts.RefsOf(v.Table)
	for _, l := range c.Projects[:min(len(c.Projects), answer.SurveyLinesShown)] {
		line := surveyLine(r, l)
		line.Name, line.URL = l.Project.Hex(), "/projects/"+l.Project.Hex()
		if p, ok := v.Dir.In(c.NS.Database(), l.Project); ok {
			line.Name = answer.NameOf(p)
		}
		if l.Dead != nil {
			out.Dead = words.Code("survey.dead", c.NS.Collection(), nil)
		}
		out.Projects = append(out.Projects, line)
	}
	for _, l := range c.Documents[:min(len(c.Documents), answer.SurveyLinesShown)] {
		line := surveyLine(r, l)
		line.Name, line.URL, line.Mono = l.Document.Hex(), "/locate?q="+l.Document.Hex(), true
		out.Documents = append(out.Documents, line)
	}
	if more := len(c.Projects) - len(out.Projects); more > 0 {
		out.More = format.Count(int64(more)) + " more projects; the API has them all."
	}
	if c.Unseen != nil {
		out.Unseen = fmt.Sprintf("A project that is not listed was not seen: it has at most %s rows and %s here, in 95 of 100 cases.", format.Count(c.Unseen.Rows.High), format.Bytes(c.Unseen.Bytes.High))
	}
	return out
}

func surveyLine(r parts.Refs, l survey.Line) SurveyLine {
	out := SurveyLine{Rows: parts.Estimate(l.Rows, format.Count), Bytes: parts.Estimate(l.Bytes, format.Bytes), Dead: templates.Figure{Text: "not measured"}}
	if l.Dead != nil {
		out.Dead = parts.Estimate(l.Dead.Rows, format.Count)
	}
	out.Shards = parts.SurveyShards(r, l)
	return out
}
