package answer

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Surveys are the background measurements of sizes.
type Surveys interface {
	// Start queues a survey and records who asked for it. Errors: fault.Invalid, NotFound (nothing to measure),
	// Unavailable (no table yet), Conflict (the same one is queued or running, or too many are queued).
	Start(ctx context.Context, r survey.Request, by store.AuditEntry) (survey.Survey, error)
	// Stop ends a survey; its measurements are kept. Errors: fault.NotFound, Conflict (it has ended).
	Stop(ctx context.Context, id string, by store.AuditEntry) error
	// List are the surveys that are kept, newest first.
	List() []survey.Survey
	// Survey is one of them with its result, nil before it has one; fault.NotFound for none.
	Survey(ctx context.Context, id string) (survey.Survey, *survey.Result, error)
	// Findings are the newest counts of a project, one for each collection of its database.
	Findings(db string, project bson.ObjectID) []survey.Finding
}

// Holdings estimates what each project holds on each shard.
type Holdings interface {
	// Snapshot returns the figures by a table with nothing hidden.
	Snapshot(t *topology.Table) *holdings.Snapshot
	// Seq increases with every measurement.
	Seq() uint64
}

// SurveyList is all surveys, newest first.
func SurveyList(v View, surveys []survey.Survey) api.List[api.Survey] {
	out := api.List[api.Survey]{AsOf: v.Now.UTC()}
	for _, s := range surveys {
		out.Items = append(out.Items, Survey(v, s))
	}
	return out
}

// Survey is one survey, without what it found.
func Survey(v View, s survey.Survey) api.Survey {
	out := api.Survey{
		ID: s.ID, Kind: string(s.Request.Kind), State: string(s.State), DB: s.Request.DB, NS: string(s.Request.NS),
		Precision: s.Request.Precision,
		QueuedAt:  s.Queued.UTC(), StartedAt: TimeOrNull(s.Started), EndedAt: TimeOrNull(s.Ended), Method: survey.MethodCounted, By: s.By,
		Problem: s.Problem, Results: api.Address(api.Prefix + "/surveys/" + s.ID),
		Progress: api.SurveyProgress{Done: s.Progress.Done, PacedDown: s.Progress.PacedDown, Returned: s.Progress.Returned},
	}
	switch s.Request.Kind {
	case survey.Sample:
		out.Method = survey.MethodSample
	case survey.Project:
		out.Project = s.Request.Project.Hex()
		if p, ok := v.Dir.In(s.Request.DB, s.Request.Project); ok {
			out.ProjectName = NameOf(p)
		}
	case survey.Document:
		out.Document = s.Request.DocumentText()
		if !s.Request.Project.IsZero() {
			out.Project = s.Request.Project.Hex()
		}
	}
	if s.Progress.Total >= 0 {
		total := s.Progress.Total
		out.Progress.Total = &total
		out.Progress.Share = ShareOf(min(Share(s.Progress.Done, total), 1))
	}
	if s.Progress.Left >= 0 && !s.State.Ended() {
		left := int64(s.Progress.Left.Round(time.Second) / time.Second)
		out.Progress.EtaSeconds = &left
	}
	return out
}

// SurveyFound is one survey with what it found; result is nil before its end.
func SurveyFound(v View, s survey.Survey, result *survey.Result) api.SurveyDetail {
	out := api.SurveyDetail{Survey: Survey(v, s), Collections: []api.SurveyCollection{}}
	if result != nil {
		out.Collections = Map(result.Collections, func(c survey.Collection) api.SurveyCollection { return surveyCollection(v, s.Request, c) })
	}
	return out
}

func surveyCollection(v View, q survey.Request, c survey.Collection) api.SurveyCollection {
	out := api.SurveyCollection{
		NS: string(c.NS), Method: c.Method, At: TimeOrNull(c.At), Read: c.Read, Complete: c.Complete, Reason: c.Reason, Problem: c.Problem,
		Rows: FigureOf(c.Rows), Bytes: FigureOf(c.Bytes), Orphans: FigureOf(c.Orphans), LookedFor: c.Checked,
		Projects: surveyLines(v, q, c, c.Projects), Documents: surveyLines(v, q, c, c.Documents),
		MethodText: survey.MethodText(c.Method, c.Read),
	}
	if c.Unseen != nil {
		out.Unseen = &api.SurveyMost{Rows: c.Unseen.Rows.High, Bytes: c.Unseen.Bytes.High}
	}
	if slices.ContainsFunc(out.Projects, func(l api.SurveyLine) bool { return l.Dead != nil }) {
		out.DeadLabel = survey.DeadLabel(c.NS.Collection())
	}
	return out
}

func surveyLines(v View, q survey.Request, c survey.Collection, lines []survey.Line) []api.SurveyLine {
	return Map(lines, func(l survey.Line) api.SurveyLine {
		one := surveyLine(l)
		// A document that was asked for without its project may be any project's; the zero
		// id is a project's name otherwise.
		if q.Kind != survey.Document || !l.Project.IsZero() {
			one.Project, one.Name = l.Project.Hex(), v.ProjectName(c.NS.Database(), l.Project)
		}
		if !l.Document.IsZero() {
			one.Document = placement.Stored(l.Stored).Text(l.Document)
		}
		return one
	})
}

// surveyLine is a line's figures, without whose they are.
func surveyLine(l survey.Line) api.SurveyLine {
	out := api.SurveyLine{Rows: surveyFigure(l.Rows), Bytes: surveyFigure(l.Bytes)}
	if l.Dead != nil {
		out.Dead = &api.SurveyDead{Rows: surveyFigure(l.Dead.Rows), Bytes: surveyFigure(l.Dead.Bytes)}
	}
	out.Shards = Map(l.Shards, func(s survey.Part) api.SurveyShard {
		return api.SurveyShard{Shard: s.Shard, Rows: surveyFigure(s.Rows), Bytes: surveyFigure(s.Bytes)}
	})
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

// BestSizes chooses what to show of one project in each collection, by name: what a survey of the last
// day found, or else the estimate that is made all the time.
func BestSizes(found, estimated []survey.Finding, now time.Time) []survey.Finding {
	best := map[topology.Namespace]survey.Finding{}
	for _, f := range found {
		best[f.Collection.NS] = f
	}
	for _, f := range estimated {
		c := f.Collection
		had, ok := best[c.NS]
		switch {
		case !ok && (c.Complete || c.Reason != ""):
			best[c.NS] = f
		case ok && c.Complete && (had.Collection.Reason != "" || now.Sub(had.Collection.At) > surveyPreferredFor):
			best[c.NS] = f
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b survey.Finding) int { return natural.Compare(a.Collection.NS, b.Collection.NS) })
}

// surveyPreferredFor is how long a survey's figures are shown rather than newer estimates, which are
// less precise.
const surveyPreferredFor = 24 * time.Hour

// ProjectSizes is what was found of one project, collection by collection.
func ProjectSizes(found []survey.Finding) []api.ProjectSize {
	out := make([]api.ProjectSize, len(found))
	for i, f := range found {
		c := f.Collection
		one := api.ProjectSize{NS: string(c.NS), Survey: f.Survey, Method: c.Method, At: TimeOrNull(c.At), Problem: c.Problem}
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
