package web

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// surveyLinesShown is how many lines of one table a page has.
const surveyLinesShown = 50

// surveyForm is what a reader may start.
func surveyForm(there bool, who auth.Principal) templates.SurveyForm {
	may := who.May(auth.Operator)
	f := templates.SurveyForm{May: there && may}
	if !may {
		f.Needs = words.T("survey.needs", "need", roleWord(auth.Operator))
	}
	return f
}

// surveyRow puts a survey into words.
func surveyRow(v View, s survey.Survey, may bool) templates.SurveyRow {
	out := templates.SurveyRow{
		ID: s.ID, URL: "/surveys/" + s.ID, What: words.Code("survey.what", string(s.Request.Kind), nil),
		State: words.Code("survey.state", string(s.State), nil), Code: string(s.State), Open: !s.State.Ended(),
		Done: format.Count(s.Progress.Done), Share: -1, Asked: templates.Ago(s.Queued, v.Now), By: s.By, Problem: s.Problem,
	}
	switch s.Request.Kind {
	case survey.Project:
		out.Of, out.OfURL = s.Request.Project.Hex(), "/projects/"+s.Request.Project.Hex()
		if p, ok := v.Dir.In(s.Request.DB, s.Request.Project); ok {
			out.Of = nameOf(p)
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
		if out.Share = share(s.Progress.Done, s.Progress.Total); out.Share > 1 {
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

// estimate writes a figure with its interval: a number that is only known to an
// extent never stands alone.
func estimate(e survey.Estimate, write func(int64) string) templates.Figure {
	switch {
	case e.AtLeast:
		return templates.Figure{Known: true, Text: words.T("survey.atleast", "n", write(e.Value)), Title: words.T("survey.title.atleast")}
	case e.Exact:
		return templates.Figure{Known: true, Text: write(e.Value), Title: words.T("survey.title.counted")}
	case e.Value == 0:
		return templates.Figure{Known: true, Text: words.T("survey.atmost", "n", write(e.High)), Title: words.T("survey.title.atmost", "high", write(e.High))}
	}
	return templates.Figure{Known: true, Approx: true,
		Text:  words.T("survey.plusminus", "value", write(e.Value), "n", write(max(e.High-e.Value, e.Value-e.Low))),
		Title: words.T("survey.title.interval", "low", write(e.Low), "high", write(e.High))}
}

// surveyCollection puts what was found in one collection into words.
func surveyCollection(v View, c survey.Collection) templates.SurveyCollection {
	out := templates.SurveyCollection{
		NS: string(c.NS), URL: collectionURL(c.NS), Problem: c.Problem, At: templates.Ago(c.At, v.Now),
		How: words.Code("survey.how", c.Method, map[string]string{"n": format.Count(c.Read)}),
		Totals: []templates.Fact{
			{Name: words.T("survey.total.rows"), Figure: countFigure(c.Rows)},
			{Name: words.T("survey.total.bytes"), Figure: bytesFigure(c.Bytes)},
			{Name: words.T("survey.total.orphans"), Figure: countFigure(c.Orphans)},
		},
	}
	if c.Checked > 0 {
		out.Totals = append(out.Totals, templates.Fact{Name: words.T("survey.looked"), Figure: exact(c.Checked)})
	}
	r := refsOf(v.Table)
	for _, l := range c.Projects[:min(len(c.Projects), surveyLinesShown)] {
		line := surveyLine(r, l)
		line.Name, line.URL = l.Project.Hex(), "/projects/"+l.Project.Hex()
		if p, ok := v.Dir.In(c.NS.Database(), l.Project); ok {
			line.Name = nameOf(p)
		}
		if l.Dead != nil {
			out.Dead = words.Code("survey.dead", c.NS.Collection(), nil)
		}
		out.Projects = append(out.Projects, line)
	}
	for _, l := range c.Documents[:min(len(c.Documents), surveyLinesShown)] {
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

func surveyLine(r refs, l survey.Line) templates.SurveyLine {
	out := templates.SurveyLine{Rows: estimate(l.Rows, format.Count), Bytes: estimate(l.Bytes, format.Bytes), Dead: templates.Figure{Text: words.T("survey.none.here")}}
	if l.Dead != nil {
		out.Dead = estimate(l.Dead.Rows, format.Count)
	}
	out.Shards = surveyShards(r, l)
	return out
}

func surveyShards(r refs, l survey.Line) []templates.ShardRef {
	var out []templates.ShardRef
	for _, s := range l.Shards {
		if s.Shard != "" {
			out = append(out, r.of(s.Shard))
		}
	}
	return out
}

// surveyPanel is what is known of one project's sizes.
func surveyPanel(v View, found []survey.Finding, pr placement.Project) templates.SurveyPanel {
	m := templates.SurveyPanel{There: true}
	r := refsOf(v.Table)
	for _, f := range found {
		name := f.Collection.NS.Collection()
		row := templates.SurveyPanelRow{
			Collection: name, URL: "/surveys/" + f.Survey, At: templates.Ago(f.Collection.At, v.Now), Problem: f.Collection.Problem,
			How: words.Code("survey.short", f.Collection.Method, nil),
		}
		rows, bytes := findingWeight(f)
		if rows == nil {
			row.Rows = templates.Figure{Text: words.T("survey.none.here")}
			row.Bytes = row.Rows
		} else {
			row.Rows, row.Bytes = estimate(*rows, format.Count), estimate(*bytes, format.Bytes)
		}
		if f.Line != nil {
			row.Shards = surveyShards(r, *f.Line)
			if d := f.Line.Dead; d != nil {
				m.Dead = append(m.Dead, templates.SurveyDeadRow{
					What: words.Code("survey.dead", name, nil), Why: words.Code("survey.dead.why", name, nil), At: row.At,
					Rows: estimate(d.Rows, format.Count), Bytes: estimate(d.Bytes, format.Bytes),
				})
			}
		}
		m.Rows = append(m.Rows, row)
	}
	m.Start = templates.SurveyForm{Project: pr.ID.Hex(), DB: pr.DB}
	return m
}

// findingWeight is a project's part, or the most that it can be; nil when
// nothing is known.
func findingWeight(f survey.Finding) (rows, bytes *survey.Estimate) {
	c := f.Collection
	switch {
	case f.Line != nil:
		return &f.Line.Rows, &f.Line.Bytes
	case c.Reason != "":
		return nil, nil
	case c.Unseen != nil:
		return &c.Unseen.Rows, &c.Unseen.Bytes
	}
	none := &survey.Estimate{Exact: true}
	return none, none
}

// surveyPanelOf is the panel of a project's page; empty where nothing measures.
func (s *Site) surveyPanelOf(v View, id bson.ObjectID, who auth.Principal) templates.SurveyPanel {
	pr, ok := v.Dir.ByID(id)
	if s.deps.Surveys == nil || !ok {
		return templates.SurveyPanel{}
	}
	m := surveyPanel(v, s.deps.Surveys.Findings(pr.DB, id), pr)
	f := surveyForm(true, who)
	m.Start.May, m.Start.Needs = f.May, f.Needs
	return m
}
