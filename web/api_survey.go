package web

import (
	"context"
	"net/http"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat/survey"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Surveys are the background measurements of sizes.
type Surveys interface {
	Start(ctx context.Context, r survey.Request, by store.AuditEntry) (survey.Survey, error)
	Stop(ctx context.Context, id string, by store.AuditEntry) error
	List() []survey.Survey
	Survey(ctx context.Context, id string) (survey.Survey, *survey.Result, error)
	Findings(db string, project bson.ObjectID) []survey.Finding
}

// surveys are the measurements, or why there are none.
func (s *Site) surveys() (Surveys, error) {
	if s.deps.Surveys == nil {
		return nil, fault.New(fault.Unavailable, "This server measures nothing in the background.")
	}
	return s.deps.Surveys, nil
}

func (s *Site) apiSurveys(w http.ResponseWriter, _ *http.Request) error {
	out := api.List[api.Survey]{AsOf: s.deps.Now().UTC()}
	if s.deps.Surveys != nil {
		for _, one := range s.deps.Surveys.List() {
			out.Items = append(out.Items, surveyOf(one))
		}
	}
	return writeJSON(w, http.StatusOK, out)
}

func (s *Site) apiSurvey(w http.ResponseWriter, r *http.Request) error {
	v := s.viewFor(r)
	one, result, err := s.surveyAsked(r)
	if err != nil {
		return err
	}
	out := api.SurveyDetail{Survey: surveyOf(one), Collections: []api.SurveyCollection{}}
	if result != nil {
		for _, c := range result.Collections {
			out.Collections = append(out.Collections, surveyCollectionOf(v, one.Request, c))
		}
	}
	return writeJSON(w, http.StatusOK, out)
}

// surveyAsked is the survey of the address.
func (s *Site) surveyAsked(r *http.Request) (survey.Survey, *survey.Result, error) {
	e, err := s.surveys()
	if err != nil {
		return survey.Survey{}, nil, err
	}
	id, err := pathText(r, "survey")
	if err != nil {
		return survey.Survey{}, nil, err
	}
	return e.Survey(r.Context(), id)
}

// apiStartSurvey reads the cluster and changes nothing of it, so it is no action
// that has to be planned.
func (s *Site) apiStartSurvey(w http.ResponseWriter, r *http.Request) error {
	var in api.SurveyStart
	if err := readJSON(r, &in); err != nil {
		return err
	}
	one, err := s.startSurvey(r, in)
	if err != nil {
		return err
	}
	w.Header().Set("Location", api.Prefix+"/surveys/"+one.ID)
	return writeJSON(w, http.StatusAccepted, surveyOf(one))
}

func (s *Site) startSurvey(r *http.Request, in api.SurveyStart) (survey.Survey, error) {
	e, err := s.surveys()
	if err != nil {
		return survey.Survey{}, err
	}
	q := survey.Request{Kind: survey.Kind(in.Kind), DB: in.DB, NS: topology.Namespace(in.NS), Precision: in.Precision}
	for _, id := range []struct {
		text string
		into *bson.ObjectID
		what string
	}{{in.Project, &q.Project, "project"}, {in.Document, &q.Document, "document"}} {
		if id.text == "" {
			continue
		}
		if *id.into, err = bson.ObjectIDFromHex(id.text); err != nil {
			return survey.Survey{}, fault.New(fault.Invalid, "A %s is named by its id, 24 hexadecimal digits; %q is not.", id.what, sanitize.Truncate(id.text, 60))
		}
	}
	if q.Kind == survey.Project && in.Project == "" {
		return survey.Survey{}, fault.New(fault.Invalid, "A survey of a project needs the project's id, 24 hexadecimal digits.")
	}
	return e.Start(r.Context(), q, deed(r))
}

func (s *Site) apiStopSurvey(w http.ResponseWriter, r *http.Request) error {
	one, err := s.stopSurvey(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, surveyOf(one))
}

func (s *Site) stopSurvey(r *http.Request) (survey.Survey, error) {
	e, err := s.surveys()
	if err != nil {
		return survey.Survey{}, err
	}
	id, err := pathText(r, "survey")
	if err != nil {
		return survey.Survey{}, err
	}
	if err := e.Stop(r.Context(), id, deed(r)); err != nil {
		return survey.Survey{}, err
	}
	one, _, err := e.Survey(r.Context(), id)
	return one, err
}

func surveyOf(s survey.Survey) api.Survey {
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

func surveyCollectionOf(v View, q survey.Request, c survey.Collection) api.SurveyCollection {
	out := api.SurveyCollection{
		NS: string(c.NS), Method: c.Method, At: instant(c.At), Read: c.Read, Complete: c.Complete, Reason: c.Reason, Problem: c.Problem,
		Rows: figureOf(c.Rows), Bytes: figureOf(c.Bytes), Orphans: figureOf(c.Orphans), LookedFor: c.Checked,
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
