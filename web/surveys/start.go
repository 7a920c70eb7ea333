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
	"shardboard/web/site"
)

// start starts a survey. It reads the cluster and changes nothing in it, so it needs no plan.
func start(s *site.Site, r *http.Request, in api.SurveyStart) (api.Survey, error) {
	e, err := engine(s)
	if err != nil {
		return api.Survey{}, err
	}
	q := survey.Request{Kind: survey.Kind(in.Kind), DB: in.DB, NS: topology.Namespace(in.NS)}
	if q.Project, err = idOf("project", in.Project); err != nil {
		return api.Survey{}, err
	}
	if q.Document, err = idOf("document", in.Document); err != nil {
		return api.Survey{}, err
	}
	if q.Kind == survey.Project && in.Project == "" {
		return api.Survey{}, fault.New(fault.Invalid, "A survey of a project needs the project's id, 24 hexadecimal digits.")
	}
	one, err := e.Start(r.Context(), q, site.AuditEntry(r))
	return answer.Survey(s.ViewFor(r), one), err
}

// idOf reads an id; the zero id if there is none.
func idOf(what, text string) (bson.ObjectID, error) {
	if text == "" {
		return bson.ObjectID{}, nil
	}
	id, err := bson.ObjectIDFromHex(text)
	if err != nil {
		return id, fault.New(fault.Invalid, "Give the id of the %s, 24 hexadecimal digits, not %q.", what, sanitize.Truncate(text, 60))
	}
	return id, nil
}

// stop stops the survey of the address.
func stop(s *site.Site, r *http.Request, _ struct{}) (api.Survey, error) {
	e, err := engine(s)
	if err != nil {
		return api.Survey{}, err
	}
	id, err := site.PathText(r, "survey")
	if err != nil {
		return api.Survey{}, err
	}
	if err := e.Stop(r.Context(), id, site.AuditEntry(r)); err != nil {
		return api.Survey{}, err
	}
	one, _, err := e.Survey(r.Context(), id)
	return answer.Survey(s.ViewFor(r), one), err
}

// toList is the page that both lead to.
func toList(*http.Request, api.Survey) string { return "/surveys" }
