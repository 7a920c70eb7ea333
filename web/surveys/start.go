package surveys

import (
	"net/http"
	"strings"

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
	v := s.ViewFor(r)
	if p, ok := answer.OnlyProject(v, in.DB, in.Project); ok {
		q.Project = p.ID
	} else if q.Project, err = idOf(in.Project); err != nil {
		return api.Survey{}, fault.New(fault.Invalid,
			v.Profile.Format("%q is the id or name of no project, or of several: give the id of one."),
			sanitize.Truncate(in.Project, 60))
	}
	if q.Document, err = idOf(in.Document); err != nil {
		if q.Text = strings.TrimSpace(in.Document); !v.Profile.AnyID() {
			return api.Survey{}, err
		}
	}
	if q.Kind == survey.Project && in.Project == "" {
		return api.Survey{}, fault.New(fault.Invalid, "%s", v.Profile.Words("A survey of a project needs the project's id or name."))
	}
	one, err := e.Start(r.Context(), q, site.AuditEntry(r))
	return answer.Survey(v, one), err
}

// idOf reads an id; the zero id if there is none.
func idOf(text string) (bson.ObjectID, error) {
	if text == "" {
		return bson.ObjectID{}, nil
	}
	id, err := bson.ObjectIDFromHex(text)
	if err != nil {
		return id, fault.New(fault.Invalid, "Give the id of the document, 24 hexadecimal digits, not %q.", sanitize.Truncate(text, 60))
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
