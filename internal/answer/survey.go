package answer

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/heat/survey"
	"shardboard/internal/store"
)

// Surveys are the background measurements of sizes.
type Surveys interface {
	Start(ctx context.Context, r survey.Request, by store.AuditEntry) (survey.Survey, error)
	Stop(ctx context.Context, id string, by store.AuditEntry) error
	List() []survey.Survey
	Survey(ctx context.Context, id string) (survey.Survey, *survey.Result, error)
	Findings(db string, project bson.ObjectID) []survey.Finding
}

func SurveyOf(s survey.Survey) api.Survey {
	out := api.Survey{
		ID: s.ID, Kind: string(s.Request.Kind), State: string(s.State), DB: s.Request.DB, NS: string(s.Request.NS), Precision: s.Request.Precision,
		QueuedAt: s.Queued.UTC(), StartedAt: instant(s.Started), EndedAt: instant(s.Ended), Method: survey.MethodCounted, By: s.By,
		Problem: s.Problem, Results: api.Prefix + "/surveys/" + s.ID,
		Progress: api.SurveyProgress{Done: s.Progress.Done, PacedDown: s.Progress.PacedDown, Returned: s.Progress.Returned},
	}
	switch s.Request.Kind {
	case survey.Sample:
		out.Method = survey.MethodSample
	case survey.Project:
		out.Project = s.Request.Project.Hex()
	case survey.Document:
		out.Document = s.Request.Document.Hex()
		if !s.Request.Project.IsZero() {
			out.Project = s.Request.Project.Hex()
		}
	}
	if s.Progress.Total >= 0 {
		total := s.Progress.Total
		out.Progress.Total = &total
	}
	if s.Progress.Left >= 0 && !s.State.Ended() {
		left := int64(s.Progress.Left.Round(time.Second) / time.Second)
		out.Progress.EtaSeconds = &left
	}
	return out
}

func SurveyCollectionOf(v View, q survey.Request, c survey.Collection) api.SurveyCollection {
	out := api.SurveyCollection{
		NS: string(c.NS), Method: c.Method, At: instant(c.At), Read: c.Read, Complete: c.Complete, Reason: c.Reason, Problem: c.Problem,
		Rows: FigureOf(c.Rows), Bytes: FigureOf(c.Bytes), Orphans: FigureOf(c.Orphans), LookedFor: c.Checked,
		Projects: surveyLines(v, q, c, c.Projects), Documents: surveyLines(v, q, c, c.Documents),
	}
	if c.Unseen != nil {
		out.Unseen = &api.SurveyMost{Rows: c.Unseen.Rows.High, Bytes: c.Unseen.Bytes.High}
	}
	return out
}

func surveyLines(v View, q survey.Request, c survey.Collection, lines []survey.Line) []api.SurveyLine {
	out := make([]api.SurveyLine, len(lines))
	for i, l := range lines {
		one := api.SurveyLine{Rows: surveyFigure(l.Rows), Bytes: surveyFigure(l.Bytes), Shards: make([]api.SurveyShard, len(l.Shards))}
		// A document that was asked for without its project may be anybody's; the zero
		// id is a project's name otherwise.
		if q.Kind != survey.Document || !l.Project.IsZero() {
			one.Project = l.Project.Hex()
			if p, ok := v.Dir.In(c.NS.Database(), l.Project); ok {
				one.Name = p.Name
			}
		}
		if !l.Document.IsZero() {
			one.Document = l.Document.Hex()
		}
		if l.Dead != nil {
			one.Dead = &api.SurveyDead{Rows: surveyFigure(l.Dead.Rows), Bytes: surveyFigure(l.Dead.Bytes)}
		}
		for j, s := range l.Shards {
			one.Shards[j] = api.SurveyShard{Shard: s.Shard, Rows: surveyFigure(s.Rows), Bytes: surveyFigure(s.Bytes)}
		}
		out[i] = one
	}
	return out
}

// surveyFigure has no value where a sample saw nothing: there is at most High.
func surveyFigure(e survey.Estimate) api.SurveyFigure {
	out := api.SurveyFigure{Low: e.Low, High: e.High, Exact: e.Exact, AtLeast: e.AtLeast}
	if e.Value > 0 || e.Exact || e.AtLeast {
		out.Value = &e.Value
	}
	return out
}

// surveyLinesShown is how many lines of one table a page has.
const SurveyLinesShown = 50

// findingWeight is a project's part, or the most that it can be; nil when
// nothing is known.
func FindingWeight(f survey.Finding) (rows, bytes *survey.Estimate) {
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
