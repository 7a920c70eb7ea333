package webtest

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/heat/survey"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// EndedSurvey is the id of a survey that has ended.
const EndedSurvey = "SURVEYOFALL"

// StubSurveys is a list of surveys of which one has a result.
type StubSurveys struct {
	All     []survey.Survey
	Result  survey.Result
	Started []survey.Request
	By      store.AuditEntry
	Stopped []string
}

// CannedSurveys has one survey that waits, one that runs and one that has ended.
func CannedSurveys() *StubSurveys {
	known := topology.Figure{Known: true, Value: 12_000, Exact: true, Method: "collStats", At: Epoch}
	counted := survey.Estimate{Value: 7, Low: 7, High: 7, Exact: true}
	guessed := survey.Estimate{Value: 5000, Low: 4600, High: 5450}
	none := survey.Estimate{High: 15}
	sampled := survey.Collection{
		NS:       "yorkie-meta.changes",
		Method:   survey.MethodSample,
		At:       Epoch,
		Read:     4802,
		Complete: true,
		Rows:     known,
		Bytes:    known,
		Orphans:  topology.Figure{Reason: "notReported"},
		Unseen:   &survey.Weight{Rows: none, Bytes: survey.Estimate{High: 30_000}},
		Projects: []survey.Line{{Project: ProjectID(0), Weight: survey.Weight{Rows: guessed, Bytes: guessed},
			Shards: []survey.Part{
				{Shard: HostileName, Weight: survey.Weight{Rows: guessed, Bytes: guessed}},
				{Shard: "", Weight: survey.Weight{Rows: none, Bytes: none}},
			}}},
		Documents: []survey.Line{{Project: ProjectID(0), Document: ProjectID(77), Weight: survey.Weight{Rows: guessed, Bytes: guessed}}},
	}
	dead := survey.Collection{
		NS:       "yorkie-meta.clients",
		Method:   survey.MethodCounted,
		At:       Epoch,
		Read:     7,
		Complete: true,
		Rows:     known,
		Bytes:    known,
		Orphans:  known,
		Projects: []survey.Line{
			{Project: ProjectID(5), Weight: survey.Weight{Rows: counted, Bytes: counted}, Dead: &survey.Weight{Rows: counted, Bytes: counted},
				Shards: []survey.Part{{Shard: "shard-rs-1", Weight: survey.Weight{Rows: counted, Bytes: counted}}}},
		},
	}
	denied := survey.Collection{
		NS:      "yorkie-meta.snapshots",
		Method:  survey.MethodSample,
		At:      Epoch,
		Reason:  "notPermitted",
		Problem: "The cluster user lacks <find>.",
		Rows:    topology.Figure{Reason: "notLoaded"},
		Bytes:   topology.Figure{Reason: "notLoaded"},
		Orphans: topology.Figure{Reason: "notLoaded"},
	}
	return &StubSurveys{Result: survey.Result{Collections: []survey.Collection{sampled, dead, denied}}, All: []survey.Survey{
		{
			ID:       "WAITS",
			Request:  survey.Request{Kind: survey.Project, Project: ProjectID(5), DB: "yorkie-meta"},
			State:    survey.Queued,
			Queued:   Epoch,
			Progress: survey.Progress{Total: -1, Left: -1},
		},
		{ID: "RUNS", Request: survey.Request{Kind: survey.Projects}, State: survey.Running, Queued: Epoch, Started: Epoch, By: HostileName,
			Progress: survey.Progress{Done: 250, Total: 1000, Left: 90 * time.Second, Returned: 251, PacedDown: true}},
		{
			ID:       EndedSurvey,
			Request:  survey.Request{Kind: survey.Sample},
			State:    survey.Done,
			Queued:   Epoch,
			Started:  Epoch,
			Ended:    Epoch,
			Progress: survey.Progress{Done: 4802, Total: 4802, Left: -1},
		},
	}}
}

func (s *StubSurveys) Start(_ context.Context, r survey.Request, by store.AuditEntry) (survey.Survey, error) {
	s.Started, s.By = append(s.Started, r), by
	return s.All[0], nil
}

func (s *StubSurveys) Stop(_ context.Context, id string, by store.AuditEntry) error {
	s.Stopped, s.By = append(s.Stopped, id), by
	return nil
}

func (s *StubSurveys) List() []survey.Survey { return s.All }

func (s *StubSurveys) Survey(_ context.Context, id string) (survey.Survey, *survey.Result, error) {
	for _, one := range s.All {
		if one.ID == id && one.State == survey.Done {
			return one, &s.Result, nil
		}
		if one.ID == id {
			return one, nil, nil
		}
	}
	return survey.Survey{}, nil, fault.New(fault.NotFound, "There is no such survey.")
}

func (s *StubSurveys) Findings(_ string, project bson.ObjectID) []survey.Finding {
	var out []survey.Finding
	for i := range s.Result.Collections {
		c := &s.Result.Collections[i]
		f := survey.Finding{Survey: EndedSurvey, Collection: c}
		for j := range c.Projects {
			if c.Projects[j].Project == project {
				f.Line = &c.Projects[j]
			}
		}
		out = append(out, f)
	}
	return out
}
