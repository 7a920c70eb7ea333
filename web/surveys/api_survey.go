package surveys

import (
	"net/http"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat/survey"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/site"
)

// surveys are the measurements, or why there are none.
func surveys(s *site.Site) (answer.Surveys, error) {
	if s.Deps.Surveys == nil {
		return nil, fault.New(fault.Unavailable, "This server measures nothing in the background.")
	}
	return s.Deps.Surveys, nil
}

func ApiSurveys(s *site.Site, w http.ResponseWriter, _ *http.Request) error {
	out := api.List[api.Survey]{AsOf: s.Deps.Now().UTC()}
	if s.Deps.Surveys != nil {
		for _, one := range s.Deps.Surveys.List() {
			out.Items = append(out.Items, answer.SurveyOf(one))
		}
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

func ApiSurvey(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	one, result, err := surveyAsked(s, r)
	if err != nil {
		return err
	}
	out := api.SurveyDetail{Survey: answer.SurveyOf(one), Collections: []api.SurveyCollection{}}
	if result != nil {
		for _, c := range result.Collections {
			out.Collections = append(out.Collections, answer.SurveyCollectionOf(v, one.Request, c))
		}
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// surveyAsked is the survey of the address.
func surveyAsked(s *site.Site, r *http.Request) (survey.Survey, *survey.Result, error) {
	e, err := surveys(s)
	if err != nil {
		return survey.Survey{}, nil, err
	}
	id, err := site.PathText(r, "survey")
	if err != nil {
		return survey.Survey{}, nil, err
	}
	return e.Survey(r.Context(), id)
}

// apiStartSurvey reads the cluster and changes nothing of it, so it is no action
// that has to be planned.
func ApiStartSurvey(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.SurveyStart
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	one, err := startSurvey(s, r, in)
	if err != nil {
		return err
	}
	w.Header().Set("Location", api.Prefix+"/surveys/"+one.ID)
	return site.WriteJSON(w, http.StatusAccepted, answer.SurveyOf(one))
}

func startSurvey(s *site.Site, r *http.Request, in api.SurveyStart) (survey.Survey, error) {
	e, err := surveys(s)
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
	return e.Start(r.Context(), q, parts.Deed(r))
}

func ApiStopSurvey(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	one, err := stopSurvey(s, r)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, answer.SurveyOf(one))
}

func stopSurvey(s *site.Site, r *http.Request) (survey.Survey, error) {
	e, err := surveys(s)
	if err != nil {
		return survey.Survey{}, err
	}
	id, err := site.PathText(r, "survey")
	if err != nil {
		return survey.Survey{}, err
	}
	if err := e.Stop(r.Context(), id, parts.Deed(r)); err != nil {
		return survey.Survey{}, err
	}
	one, _, err := e.Survey(r.Context(), id)
	return one, err
}
