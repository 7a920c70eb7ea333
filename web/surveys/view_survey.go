package surveys

import (
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
	out.Left = words.T("survey.left.unknown")
	if s.Progress.Left >= 0 {
		out.Left = words.T("survey.left", "span", format.Span(s.Progress.Left))
	}
	if s.Progress.PacedDown {
		out.Paced = words.T("survey.paced")
	}
	return out
}

// surveyCollection puts what was found in one collection into words.
func surveyCollection(v answer.View, c survey.Collection) SurveyCollection {
	out := SurveyCollection{
		NS: string(c.NS), URL: answer.CollectionURL(c.NS), Problem: c.Problem, At: templates.Ago(c.At, v.Now),
		How: words.Code("survey.how", c.Method, map[string]string{"n": format.Count(c.Read)}),
		Totals: []templates.Fact{
			{Name: words.T("survey.total.rows"), Figure: parts.CountFigure(c.Rows)},
			{Name: words.T("survey.total.bytes"), Figure: parts.BytesFigure(c.Bytes)},
			{Name: words.T("survey.total.orphans"), Figure: parts.CountFigure(c.Orphans)},
		},
	}
	if c.Checked > 0 {
		out.Totals = append(out.Totals, templates.Fact{Name: words.T("survey.looked"), Figure: parts.Exact(c.Checked)})
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
		out.More = words.T("survey.more", "n", format.Count(int64(more)))
	}
	if c.Unseen != nil {
		out.Unseen = words.T("survey.unseen", "rows", format.Count(c.Unseen.Rows.High), "bytes", format.Bytes(c.Unseen.Bytes.High))
	}
	return out
}

func surveyLine(r parts.Refs, l survey.Line) SurveyLine {
	out := SurveyLine{Rows: parts.Estimate(l.Rows, format.Count), Bytes: parts.Estimate(l.Bytes, format.Bytes), Dead: templates.Figure{Text: words.T("survey.none.here")}}
	if l.Dead != nil {
		out.Dead = parts.Estimate(l.Dead.Rows, format.Count)
	}
	out.Shards = parts.SurveyShards(r, l)
	return out
}
